import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { babble, hum, pinkNoise, type Signal, toSignal, whiteNoise } from "./degraded-audio.ts";
import { seededRandom, speak } from "./made-conversation.ts";
import { FITTED_TEXTS } from "./spoken-texts.ts";

/** Levels as root mean square on the 16-bit scale. */
const ROOM = 20;
const HUM = 600;
const MUSIC = 2_500;
const CROWD = 1_500;
const BABBLE_VOICES = ["slt", "rms", "awb", "kal16"] as const;
/** People who talk at once: of fewer, single words can be made out. */
const BABBLE_SPEAKERS = 12;

/** Sounds without a word to be made out, by name; each of so many seconds, the same each time. */
export async function wordlessSounds(seconds: number): Promise<Record<string, () => Int16Array>> {
  const length = seconds * SESSION_RATE;
  const voices: Signal[] = [];
  for (let at = 0; at < BABBLE_SPEAKERS; at++) {
    const texts = [...FITTED_TEXTS.slice(at * 2), ...FITTED_TEXTS.slice(0, at * 2)].slice(0, 8);
    const voice = BABBLE_VOICES[at % BABBLE_VOICES.length] ?? "slt";
    voices.push(toSignal(await speak(voice, texts.join(" "))));
  }
  const room = () => atLevel(pinkNoise(length, seededRandom(1)), ROOM);
  const inRoom = (sound: Signal) => toPcm(add(sound, room()));
  return {
    "digital silence": () => new Int16Array(length),
    "silent room": () => toPcm(room()),
    hum: () => inRoom(atLevel(hum(length, seededRandom(2)), HUM)),
    fan: () => toPcm(atLevel(pinkNoise(length, seededRandom(3)), HUM)),
    chords: () => inRoom(atLevel(chords(length, seededRandom(4)), MUSIC)),
    melody: () => inRoom(atLevel(melody(length, seededRandom(5)), MUSIC)),
    drums: () => inRoom(atLevel(drums(length, seededRandom(6)), MUSIC)),
    keyboard: () => inRoom(keyboard(length, seededRandom(7))),
    babble: () => inRoom(atLevel(babble(voices, length, seededRandom(8)), CROWD)),
  };
}

/** Slow chords of three sustained notes with overtones and a slow tremolo. */
export function chords(length: number, random: () => number): Signal {
  const sound = new Float64Array(length);
  const step = 2 * SESSION_RATE;
  for (let from = 0; from < length; from += step) {
    const root = 130.8 * 2 ** (Math.floor(random() * 12) / 12);
    for (const third of [1, random() < 0.5 ? 1.189 : 1.26, 1.498]) {
      note(sound, { from, seconds: 2.2, hz: root * third, attack: 0.15, decay: 1.2 });
    }
  }
  return sound;
}

/** Plucked notes of a fifth to half a second, in the range of a voice and above. */
export function melody(length: number, random: () => number): Signal {
  const sound = new Float64Array(length);
  for (let from = 0; from < length; ) {
    const hz = 196 * 2 ** (Math.floor(random() * 24) / 12);
    const seconds = 0.2 + 0.3 * random();
    note(sound, { from, seconds: 2 * seconds, hz, attack: 0.01, decay: 0.25 });
    from += Math.floor(seconds * SESSION_RATE);
  }
  return sound;
}

interface Note {
  from: number;
  seconds: number;
  hz: number;
  /** Seconds. */
  attack: number;
  decay: number;
}

function note(sound: Signal, { from, seconds, hz, attack, decay }: Note): void {
  const to = Math.min(sound.length, from + Math.floor(seconds * SESSION_RATE));
  for (let at = from; at < to; at++) {
    const time = (at - from) / SESSION_RATE;
    const shape = Math.min(1, time / attack) * Math.exp(-Math.max(0, time - attack) / decay);
    let value = 0;
    for (let overtone = 1; overtone <= 6 && overtone * hz < SESSION_RATE / 2; overtone++) {
      value += Math.sin(2 * Math.PI * hz * overtone * time) / overtone ** 1.3;
    }
    sound[at] = (sound[at] ?? 0) + shape * value;
  }
}

/** A beat of low thuds and short noises, 110 in a minute. */
function drums(length: number, random: () => number): Signal {
  const sound = new Float64Array(length);
  const beat = Math.floor((60 / 110 / 2) * SESSION_RATE);
  for (let from = 0, count = 0; from < length; from += beat, count++) {
    if (count % 4 === 0) note(sound, { from, seconds: 0.3, hz: 60, attack: 0.005, decay: 0.08 });
    burst(sound, from, count % 4 === 2 ? 0.12 : 0.03, count % 4 === 2 ? 1 : 0.4, random);
  }
  return sound;
}

/** Someone who types fast: clicks of 5 to 20 ms, in words with pauses between them. */
function keyboard(length: number, random: () => number): Signal {
  const sound = new Float64Array(length);
  for (let from = 0; from < length; ) {
    burst(sound, from, 0.005 + 0.015 * random(), 2_000 + 6_000 * random(), random);
    burst(sound, from + 900, 0.004, 1_500 * random(), random);
    const pause = random() < 0.15 ? 0.3 + 1.2 * random() : 0.08 + 0.12 * random();
    from += Math.floor(pause * SESSION_RATE);
  }
  return sound;
}

function burst(
  sound: Signal,
  from: number,
  decay: number,
  level: number,
  random: () => number,
): void {
  const to = Math.min(sound.length, from + Math.floor(4 * decay * SESSION_RATE));
  const noise = whiteNoise(Math.max(0, to - from), random);
  for (let at = from; at < to; at++) {
    const time = (at - from) / SESSION_RATE;
    sound[at] = (sound[at] ?? 0) + level * Math.exp(-time / decay) * (noise[at - from] ?? 0);
  }
}

function add(one: Signal, other: Signal): Signal {
  return one.map((sample, at) => sample + (other[at] ?? 0));
}

function atLevel(sound: Signal, level: number): Signal {
  const power = sound.reduce((sum, sample) => sum + sample * sample, 0) / sound.length;
  const gain = power === 0 ? 0 : level / Math.sqrt(power);
  return sound.map((sample) => gain * sample);
}

function toPcm(sound: Signal): Int16Array {
  return Int16Array.from(sound, (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample))),
  );
}
