import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import type { AudioChunk } from "../../src/wire/gen/voice/v1/worker.ts";
import { toMulaw } from "../support/mulaw.ts";

/** Samples at 16 kHz on the 16-bit scale, not yet rounded. */
export type Signal = Float64Array;

const CHUNK_SECONDS = 10;
const HUM_HZ = 50;
const HUM_HARMONICS = 8;
/** Reflections of a room per second, each of a random sign. */
const REFLECTIONS = 1_500;
const TELEPHONE_BAND = [300, 3_400] as const;

export function toSignal(pcm: Int16Array): Signal {
  return Float64Array.from(pcm);
}

/** Even noise of all frequencies. */
export function whiteNoise(length: number, random: () => number): Signal {
  return Float64Array.from({ length }, () => gaussian(random));
}

/** Noise that falls by 3 dB an octave (three one-pole filters after Paul Kellet). */
export function pinkNoise(length: number, random: () => number): Signal {
  let [a, b, c] = [0, 0, 0];
  return Float64Array.from({ length }, () => {
    const white = gaussian(random);
    a = 0.99765 * a + 0.099046 * white;
    b = 0.963 * b + 0.2965164 * white;
    c = 0.57 * c + 1.0526913 * white;
    return a + b + c + 0.1848 * white;
  });
}

/** Mains hum with its harmonics. */
export function hum(length: number, random: () => number): Signal {
  const phases = Array.from({ length: HUM_HARMONICS }, () => 2 * Math.PI * random());
  return Float64Array.from({ length }, (_, at) =>
    phases.reduce((sum, phase, index) => {
      const hz = HUM_HZ * (index + 1);
      return sum + Math.sin((2 * Math.PI * hz * at) / SESSION_RATE + phase) / (index + 1);
    }, 0),
  );
}

/** The signal with the noise so many dB below its voices. */
export function withNoise(signal: Signal, noise: Signal, snr: number): Signal {
  const gain = (voicedLevel(signal) / level(noise)) * 10 ** (-snr / 20);
  return signal.map((sample, at) => sample + gain * (noise[at % noise.length] ?? 0));
}

/** Many people at once, from voices of any length. */
export function babble(voices: readonly Signal[], length: number, random: () => number): Signal {
  const sum = new Float64Array(length);
  for (const voice of voices) {
    const gain = 1 / voicedLevel(voice);
    const from = Math.floor(random() * voice.length);
    for (let at = 0; at < length; at++) {
      sum[at] = (sum[at] ?? 0) + gain * (voice[(from + at) % voice.length] ?? 0);
    }
  }
  return sum;
}

/** A room: reflections that fall by 60 dB in `seconds`, as loud together as the voice itself. */
export function inRoom(signal: Signal, seconds: number, random: () => number): Signal {
  const length = Math.round(seconds * SESSION_RATE);
  const taps = Array.from({ length: Math.round(seconds * REFLECTIONS) }, () => {
    const at = 1 + Math.floor(random() * (length - 1));
    return { at, gain: (random() < 0.5 ? -1 : 1) * 10 ** ((-3 * at) / length) };
  });
  const scale = 1 / Math.sqrt(taps.reduce((sum, { gain }) => sum + gain * gain, 0));
  const out = Float64Array.from(signal);
  for (const { at, gain } of taps) {
    for (let to = at; to < out.length; to++) {
      out[to] = (out[to] ?? 0) + scale * gain * (signal[to - at] ?? 0);
    }
  }
  return out;
}

/** Chunks of raw PCM at 16 kHz. */
export function toChunks(signal: Signal): AudioChunk[] {
  return cut(signal.length, (from, to) => {
    const samples = Int16Array.from(signal.subarray(from, to), clipped);
    return { mediaType: `audio/pcm;rate=${SESSION_RATE};channels=1;encoding=s16le`, samples };
  });
}

/** Chunks as a telephone line brings them: 300 to 3400 Hz, 8 kHz, µ-law. */
export function overTelephone(signal: Signal): AudioChunk[] {
  const narrow = bandPassed(signal, ...TELEPHONE_BAND);
  return cut(signal.length, (from, to) => {
    const samples = Uint8Array.from({ length: (to - from) / 2 }, (_, at) =>
      toMulaw(clipped(narrow[from + 2 * at] ?? 0)),
    );
    return { mediaType: "audio/pcm;rate=8000;channels=1;encoding=mulaw", samples };
  });
}

function cut(
  length: number,
  chunk: (from: number, to: number) => { mediaType: string; samples: Int16Array | Uint8Array },
): AudioChunk[] {
  const size = CHUNK_SECONDS * SESSION_RATE;
  const even = length - (length % 2);
  return Array.from({ length: Math.ceil(even / size) }, (_, sequence) => {
    const start = sequence * size;
    const end = Math.min(start + size, even);
    const { mediaType, samples } = chunk(start, end);
    return { sequence, start, length: end - start, mediaType, data: Buffer.from(samples.buffer) };
  });
}

function clipped(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}

/** Fourth order at each edge: two passes of a second-order Butterworth filter. */
function bandPassed(signal: Signal, low: number, high: number): Signal {
  let out = signal;
  for (let pass = 0; pass < 2; pass++) {
    out = filtered(out, biquad(high, false));
    out = filtered(out, biquad(low, true));
  }
  return out;
}

function biquad(hz: number, isHighPass: boolean): [number, number, number, number, number] {
  const turn = (2 * Math.PI * hz) / SESSION_RATE;
  const cos = Math.cos(turn);
  const alpha = Math.sin(turn) * Math.SQRT1_2;
  const edge = isHighPass ? 1 + cos : 1 - cos;
  const middle = isHighPass ? -edge : edge;
  const a0 = 1 + alpha;
  return [edge / 2 / a0, middle / a0, edge / 2 / a0, (-2 * cos) / a0, (1 - alpha) / a0];
}

function filtered(signal: Signal, [b0, b1, b2, a1, a2]: ReturnType<typeof biquad>): Signal {
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  return signal.map((x) => {
    const y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
    [x1, x2, y1, y2] = [x, x1, y, y1];
    return y;
  });
}

function level(signal: Signal): number {
  return Math.sqrt(signal.reduce((sum, sample) => sum + sample * sample, 0) / signal.length);
}

/** Of the frames of 20 ms that are within 30 dB of the loudest: the pauses do not count. */
function voicedLevel(signal: Signal): number {
  const size = SESSION_RATE / 50;
  const powers = Array.from(
    { length: Math.floor(signal.length / size) },
    (_, frame) => level(signal.subarray(frame * size, (frame + 1) * size)) ** 2,
  );
  const floor = powers.reduce((most, power) => Math.max(most, power), 0) / 1_000;
  const voiced = powers.filter((power) => power >= floor);
  return Math.sqrt(voiced.reduce((sum, power) => sum + power, 0) / Math.max(1, voiced.length));
}

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
