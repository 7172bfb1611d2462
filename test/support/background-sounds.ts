import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { inRoom, type Signal, toSignal } from "../eval/degraded-audio.ts";
import { chords, melody } from "../eval/wordless-sound.ts";
import { asAnother, turnsOf } from "./demo-voices.ts";

/** Resonances of an open mouth, Hz, and how far they reach. */
const RESONANCES = [
  { hz: 750, width: 130 },
  { hz: 1_250, width: 160 },
  { hz: 2_600, width: 250 },
];

/** Somebody laughs: bursts of 90 ms, about five a second, each lower and softer than the one before. */
export function laughter(seconds: number, random: () => number): Signal {
  const source = new Float64Array(seconds * SESSION_RATE);
  const fits = 1.2 * SESSION_RATE;
  let phase = 0;
  for (let at = 0; at < source.length; at++) {
    const within = at % fits;
    const burst = within % (0.2 * SESSION_RATE);
    const left = 1 - within / fits;
    phase += (220 + 160 * left) / SESSION_RATE;
    const isVoiced = burst < 0.09 * SESSION_RATE;
    const pulse = phase >= 1 ? 1 : 0;
    phase %= 1;
    const breath = 0.03 * (random() - 0.5);
    source[at] = left * ((isVoiced ? pulse : 0) + breath * (isVoiced ? 1 : 3));
  }
  return atLevel(RESONANCES.reduce(resonant, source), 2_500);
}

/** Chords and a melody. */
export function music(seconds: number, random: () => number): Signal {
  const length = seconds * SESSION_RATE;
  return atLevel(mixed(chords(length, random), melody(length, random)), 2_000);
}

/** A television in the same room: two people of others' voices, and music behind them. */
export function television(seconds: number, random: () => number): Signal {
  const length = seconds * SESSION_RATE;
  const people = [turnsOf("Ben"), turnsOf("Anna")].flatMap((turns, n) =>
    turns.map((turn) => toSignal(asAnother(turn, n === 0 ? 1.2 : 0.8))),
  );
  const talk = new Float64Array(length);
  for (let at = 0, n = 0; at < length; n++) {
    const turn = people[n % people.length] ?? new Float64Array(1);
    talk.set(turn.subarray(0, length - at), at);
    at += turn.length;
  }
  const sound = mixed(atLevel(talk, 1_500), atLevel(chords(length, random), 400));
  return inRoom(sound, 0.5, random);
}

/** The sound at a level, as root mean square on the 16-bit scale. */
export function atLevel(sound: Signal, level: number): Signal {
  const power = sound.reduce((sum, sample) => sum + sample * sample, 0) / sound.length;
  return sound.map((sample) => (level / Math.sqrt(power || 1)) * sample);
}

export function mixed(one: Signal, other: Signal): Signal {
  return one.map((sample, at) => sample + (other[at] ?? 0));
}

/** A filter with two poles. */
function resonant(sound: Signal, { hz, width }: { hz: number; width: number }): Signal {
  const radius = Math.exp((-Math.PI * width) / SESSION_RATE);
  const turn = 2 * radius * Math.cos((2 * Math.PI * hz) / SESSION_RATE);
  let [before, earlier] = [0, 0];
  return sound.map((sample) => {
    const value = sample + turn * before - radius * radius * earlier;
    [before, earlier] = [value, before];
    return value;
  });
}
