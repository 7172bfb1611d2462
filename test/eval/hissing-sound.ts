import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { pinkNoise, type Signal, whiteNoise } from "./degraded-audio.ts";
import { seededRandom } from "./made-conversation.ts";

/** Levels as root mean square on the 16-bit scale. */
const LEVEL = 1_000;
const ROOM = 20;

/** Sounds that are no voice and not periodic either, as whispering is, by name; the same each time. */
export function hissingSounds(seconds: number): Record<string, () => Int16Array> {
  const length = seconds * SESSION_RATE;
  const noise = (seed: number) => coloured(whiteNoise(length, seededRandom(seed)), () => 0.7);
  const breath = () =>
    coloured(whiteNoise(length, seededRandom(302)), (time) => 0.55 + 0.3 * Math.sin(1.57 * time));
  return {
    "hiss: rain": () => toPcm(noise(301), () => 1),
    "hiss: breathing": () => toPcm(breath(), (time) => Math.sin((2 * Math.PI * time) / 4) ** 2),
    "hiss: applause": () => toPcm(claps(length, seededRandom(303)), () => 1),
    "hiss: rustling": () => toPcm(...rustling(seconds, seededRandom(304))),
    "hiss: brushing": () => toPcm(noise(306), (time) => Math.sin(2 * Math.PI * 2.5 * time) ** 4),
  };
}

/** Noise with less of the low tones, by a zero that moves: breathing in is brighter than out. */
function coloured(noise: Signal, zero: (time: number) => number): Signal {
  return noise.map((value, at) => value - zero(at / SESSION_RATE) * (noise[at - 1] ?? 0));
}

/** Two hundred claps a second, each of 10 ms. */
function claps(length: number, random: () => number): Signal {
  const sound = new Float64Array(length);
  for (let clap = 0; clap < (200 * length) / SESSION_RATE; clap++) {
    const from = Math.floor(random() * length);
    const loud = random() ** 3;
    for (let at = 0; at < 800 && from + at < length; at++) {
      const value = loud * Math.exp(-at / 160) * (2 * random() - 1);
      sound[from + at] = (sound[from + at] ?? 0) + value;
    }
  }
  return sound;
}

/** Paper: noise for 0.05 to 0.4 s at a time, each time of another colour, with rests of 0.2 s in the mean. */
function rustling(seconds: number, random: () => number): [Signal, (time: number) => number] {
  const edges: { from: number; to: number; loud: number; zero: number }[] = [];
  for (let at = 0; at < seconds; ) {
    const to = at + 0.05 + 0.35 * random();
    edges.push({ from: at, to, loud: 0.2 + 0.8 * random(), zero: 0.9 * random() });
    at = to - 0.2 * Math.log(1 - random());
  }
  const edgeAt = (time: number) => edges.find(({ to }) => to >= time);
  let edge = edgeAt(0);
  const follow = (time: number) => {
    if (time === 0 || (edge !== undefined && edge.to < time)) edge = edgeAt(time);
    return edge;
  };
  const noise = whiteNoise(seconds * SESSION_RATE, random);
  const shape = (time: number) => {
    const { from, to, loud } = follow(time) ?? { from: seconds, to: seconds + 1, loud: 0 };
    return time < from ? 0 : loud * Math.sin((Math.PI * (time - from)) / (to - from));
  };
  return [coloured(noise, (time) => follow(time)?.zero ?? 0), shape];
}

function toPcm(sound: Signal, shape: (time: number) => number): Int16Array {
  const shaped = sound.map((value, at) => value * shape(at / SESSION_RATE));
  const room = pinkNoise(sound.length, seededRandom(1));
  const [own, other] = [shaped, room].map((signal) =>
    Math.sqrt(signal.reduce((sum, value) => sum + value * value, 0) / signal.length),
  );
  return Int16Array.from(shaped, (value, at) => {
    const sample = (LEVEL / (own ?? 1)) * value + (ROOM / (other ?? 1)) * (room[at] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(sample)));
  });
}
