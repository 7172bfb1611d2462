import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { inRoom, pinkNoise, type Signal, whiteNoise } from "./degraded-audio.ts";
import { seededRandom } from "./made-conversation.ts";

type Range = readonly [least: number, most: number];

/** One stroke: a burst of noise and a few modes that ring, each of random values within these. */
interface Stroke {
  /** Seconds until it has fallen to 1/e. */
  decay: Range;
  noise: Range;
  modes: number;
  hz: Range;
  ring: Range;
  mode: number;
}

interface Clatter {
  stroke: Stroke;
  /** A second one, as a key or button comes up again, after so many seconds. */
  second?: { stroke: Stroke; after: Range; gain: number };
  /** Seconds from stroke to stroke, and now and then. */
  gap: Range;
  pause: Range;
  pauses: number;
  /** Reverberation, seconds. */
  room?: number;
  /** Of the loud peaks, on the 16-bit scale. */
  level: number;
}

/** Level of the room's own noise, root mean square on the 16-bit scale. */
const ROOM = 20;
/** One sample in so many is louder than the level. */
const PEAKS = 2_000;

const KEY = stroke([0.004, 0.012], [0.5, 1], 3, [250, 3_000], [0.004, 0.015], 0.5);
const CLICKY = stroke([0.001, 0.004], [0.7, 1], 3, [1_500, 6_000], [0.003, 0.01], 0.6);
const DULL = stroke([0.006, 0.015], [0.1, 0.3], 4, [120, 900], [0.01, 0.03], 0.8);
const BUTTON = stroke([0.0008, 0.002], [0.6, 1], 2, [2_000, 5_000], [0.002, 0.006], 0.8);
const PEN = stroke([0.002, 0.006], [0.3, 0.8], 4, [180, 1_500], [0.01, 0.035], 0.8);
const FORK = stroke([0.001, 0.004], [0.2, 0.6], 6, [1_800, 7_500], [0.02, 0.15], 0.6);
const PLATE = stroke([0.002, 0.006], [0.2, 0.6], 4, [600, 4_000], [0.02, 0.08], 0.6);
const OTHER_KEY = stroke([0.003, 0.02], [0.4, 1], 4, [200, 2_500], [0.005, 0.02], 0.6);
const OTHER_CLICKY = stroke([0.0015, 0.005], [0.6, 1], 4, [1_000, 7_000], [0.003, 0.014], 0.5);
const OTHER_DULL = stroke([0.008, 0.02], [0.2, 0.5], 3, [90, 700], [0.008, 0.025], 0.9);
const OTHER_BUTTON = { ...BUTTON, decay: [0.001, 0.003] } as const;
const OTHER_PEN = stroke([0.001, 0.008], [0.3, 0.9], 5, [150, 2_200], [0.008, 0.03], 0.7);
const OTHER_FORK = stroke([0.001, 0.006], [0.3, 0.7], 7, [1_200, 7_000], [0.02, 0.2], 0.5);

/** The rule of the gate was made with these. */
const TUNED_ON: Readonly<Record<string, Clatter>> = {
  keys: typing(KEY, 8_000),
  "keys, fast": { ...typing(KEY, 8_000), gap: [0.05, 0.12], pauses: 0.08 },
  "keys, slow": { ...typing(KEY, 8_000), gap: [0.2, 0.6] },
  "clicky keys": typing(CLICKY, 12_000, 0.8),
  "dull keys": typing(DULL, 5_000),
  "keys, room of 0.3 s": { ...typing(KEY, 8_000), room: 0.3 },
  "keys, quiet": typing(KEY, 800),
  "keys, loud": typing(KEY, 30_000),
  mouse: {
    ...typing(BUTTON, 8_000),
    second: { stroke: BUTTON, after: [0.08, 0.15], gain: 0.8 },
    ...{ gap: [0.15, 0.6], pause: [0.8, 3], pauses: 0.3 },
  },
  pen: { stroke: PEN, gap: [0.15, 0.3], pause: [0.6, 2], pauses: 0.08, level: 6_000 },
  cutlery: {
    stroke: FORK,
    second: { stroke: PLATE, after: [0.02, 0.15], gain: 0.7 },
    ...{ gap: [0.1, 0.7], pause: [0.8, 2.5], pauses: 0.2, level: 8_000 },
  },
};

/** Other strokes, rates, levels and rooms: no threshold was set by them. */
const HELD_OUT: Readonly<Record<string, Clatter>> = {
  keys: typing(OTHER_KEY, 6_000),
  "keys, fast": { ...typing(OTHER_KEY, 10_000), gap: [0.04, 0.13], pauses: 0.05 },
  "keys, slow": { ...typing(OTHER_KEY, 6_000), gap: [0.15, 0.5], pauses: 0.25 },
  "clicky keys": typing(OTHER_CLICKY, 9_000, 0.9),
  "dull keys": typing(OTHER_DULL, 7_000),
  "keys, room of 0.5 s": { ...typing(OTHER_KEY, 8_000), room: 0.5 },
  "clicky keys, room of 0.2 s": { ...typing(OTHER_CLICKY, 8_000, 0.9), room: 0.2 },
  "keys, quiet": typing(OTHER_KEY, 600),
  "keys, loud": typing(OTHER_KEY, 32_000),
  mouse: {
    ...typing(OTHER_BUTTON, 10_000),
    second: { stroke: BUTTON, after: [0.06, 0.18], gain: 0.9 },
    ...{ gap: [0.12, 0.5], pause: [0.6, 3], pauses: 0.25 },
  },
  pen: { stroke: OTHER_PEN, gap: [0.12, 0.35], pause: [0.5, 2], pauses: 0.1, level: 9_000 },
  cutlery: {
    stroke: OTHER_FORK,
    second: { stroke: PLATE, after: [0.02, 0.2], gain: 0.9 },
    ...{ gap: [0.08, 0.6], pause: [0.8, 2.5], pauses: 0.15, level: 10_000 },
  },
};

/** Keyboards, mice, pens and cutlery, by name; each of so many seconds, the same each time. */
export function clatteringSounds(seconds: number): Record<string, () => Int16Array> {
  const made = (set: string, sounds: Readonly<Record<string, Clatter>>, seed: number) =>
    Object.entries(sounds).map(([name, sound], place): [string, () => Int16Array] => [
      `${set}: ${name}`,
      () => clatter(sound, seconds * SESSION_RATE, seededRandom(seed + place)),
    ]);
  return Object.fromEntries([
    ...made("clatter", TUNED_ON, 101),
    ...made("clatter held out", HELD_OUT, 201),
  ]);
}

function stroke(
  ...[decay, noise, modes, hz, ring, mode]: [Range, Range, number, Range, Range, number]
): Stroke {
  return { decay, noise, modes, hz, ring, mode };
}

function typing(key: Stroke, level: number, gain = 0.4): Clatter {
  const second = { stroke: key, after: [0.05, 0.11], gain } as const;
  return { stroke: key, second, gap: [0.08, 0.2], pause: [0.3, 1.5], pauses: 0.15, level };
}

function clatter(sound: Clatter, length: number, random: () => number): Int16Array {
  const dry = new Float64Array(length);
  for (let at = Math.floor(SESSION_RATE * random()); at < length; ) {
    const gain = within([0.25, 1], random);
    strike(dry, at, sound.stroke, gain, random);
    if (sound.second !== undefined) {
      const { stroke: second, after, gain: share } = sound.second;
      const from = at + Math.floor(within(after, random) * SESSION_RATE);
      strike(dry, from, second, share * gain, random);
    }
    const step = random() < sound.pauses ? sound.pause : sound.gap;
    at += Math.floor(within(step, random) * SESSION_RATE);
  }
  const heard = sound.room === undefined ? dry : inRoom(dry, sound.room, random);
  const peak = [...heard].map(Math.abs).sort((a, b) => b - a)[Math.floor(length / PEAKS)] ?? 1;
  const noise = pinkNoise(length, random);
  const level = Math.sqrt(noise.reduce((sum, value) => sum + value * value, 0) / length);
  return Int16Array.from(heard, (value, at) => {
    const sample = (value * sound.level) / peak + (ROOM / level) * (noise[at] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(sample)));
  });
}

function strike(
  sound: Signal,
  from: number,
  { decay, noise, modes, hz, ring, mode }: Stroke,
  gain: number,
  random: () => number,
): void {
  const fall = within(decay, random);
  const level = gain * within(noise, random);
  const burst = whiteNoise(Math.floor(5 * fall * SESSION_RATE), random);
  add(sound, from, burst.length, (time, at) => level * Math.exp(-time / fall) * (burst[at] ?? 0));
  for (let each = 0; each < modes; each++) {
    const turn = 2 * Math.PI * hz[0] * (hz[1] / hz[0]) ** random();
    const fades = within(ring, random);
    const loud = gain * mode * within([0.3, 1], random);
    const phase = 2 * Math.PI * random();
    add(sound, from, Math.floor(6 * fades * SESSION_RATE), (time) => {
      return loud * Math.exp(-time / fades) * Math.sin(turn * time + phase);
    });
  }
}

function add(
  sound: Signal,
  from: number,
  length: number,
  value: (time: number, at: number) => number,
): void {
  for (let at = 0; at < length && from + at < sound.length; at++) {
    sound[from + at] = (sound[from + at] ?? 0) + value(at / SESSION_RATE, at);
  }
}

function within([least, most]: Range, random: () => number): number {
  return least + (most - least) * random();
}
