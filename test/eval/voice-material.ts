import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { readMono } from "../../src/base/audio/pcm-samples.ts";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { SincInterpolator } from "../../src/base/audio/sinc-interpolator.ts";
import { isAudioFormatError, parsePcmMediaType, parseWavHeader } from "../../src/base/audio/wav.ts";
import { inRoom, overTelephone, pinkNoise, toSignal, withNoise } from "./degraded-audio.ts";
import type { SpokenTurn } from "./diarisation-score.ts";
import { SENTENCES, seededRandom, speak } from "./made-conversation.ts";
import { readRecording } from "./read-recording.ts";
import { parseRttm } from "./rttm.ts";

/** Speech of one person on two occasions, or twice of one, at 16 kHz. */
export interface VoiceSample {
  name: string;
  halves: [Int16Array, Int16Array];
}

const CONDITIONS = ["clean", "room", "phone"] as const;

export type Condition = (typeof CONDITIONS)[number];

const FLITE = ["slt", "rms", "awb", "kal16"];
/** Voices of espeak-ng: a variant, its language, and its pitch. */
const ESPEAK = [
  ["en-us+m1", 35],
  ["en-gb+m3", 50],
  ["en-gb-scotland+m7", 40],
  ["en-us+m5", 60],
  ["en-029+Alex", 45],
  ["en-us+Andrea", 55],
  ["en-gb+f1", 50],
  ["en-gb-scotland+f2", 45],
  ["en-us+f3", 60],
  ["en-029+f4", 40],
  ["en-gb+f5", 70],
  ["en-gb-x-rp+Alicia", 50],
] as const;
/** Speakers with less are left out, in seconds. */
const LEAST_SECONDS = 2;

/** Voices whose licences let parameters estimated from them be shipped; what is missing is named. */
export async function trainingVoices(
  data: string,
): Promise<{ voices: VoiceSample[]; leftOut: string[] }> {
  const voices = [...meetingVoices(join(data, "ami")), ...readVoices(join(data, "librivox"))];
  const leftOut = voices.length === 0 ? ["ami/ and librivox/ are not in VOICE_EVAL_DATA"] : [];
  for (const voice of FLITE)
    voices.push(await spoken(`flite-${voice}`, (text) => speak(voice, text)));
  for (const [voice, pitch] of ESPEAK) {
    voices.push(await spoken(`espeak-${voice}`, (text) => speakWithEspeak(voice, pitch, text)));
  }
  return { voices, leftOut };
}

/** The same samples as recorded, in a room with some noise, and over the telephone. */
export function inCondition(pcm: Int16Array, condition: Condition, seed: number): Int16Array {
  if (condition === "clean") return pcm;
  const random = seededRandom(seed);
  const signal = toSignal(pcm);
  if (condition === "room") {
    const heard = inRoom(signal, 0.3, random);
    return rounded(withNoise(heard, pinkNoise(heard.length, random), 20));
  }
  const noisy = withNoise(signal, pinkNoise(signal.length, random), 30);
  return joined(
    overTelephone(noisy).map(({ mediaType, data }) => {
      const format = parsePcmMediaType(mediaType);
      if (isAudioFormatError(format)) throw new Error("no telephone");
      return resampled(readMono(format, data), format.sampleRate);
    }),
  );
}

export function eachCondition<T>(make: (condition: Condition) => T): T[] {
  return CONDITIONS.map((condition) => make(condition));
}

/** The sound of each speaker of a recording alone, where nobody else speaks. */
export function soundBySpeaker(
  pcm: Int16Array,
  turns: readonly SpokenTurn[],
): Map<string, Int16Array> {
  const pieces = new Map<string, Int16Array[]>();
  for (const turn of turns) {
    const others = turns.filter((other) => other.speaker !== turn.speaker);
    if (others.some(({ start, end }) => start < turn.end && end > turn.start)) continue;
    const piece = pcm.subarray(sampleAt(turn.start), sampleAt(turn.end));
    pieces.set(turn.speaker, [...(pieces.get(turn.speaker) ?? []), piece]);
  }
  return new Map([...pieces].map(([speaker, parts]) => [speaker, joined(parts)]));
}

function sampleAt(seconds: number): number {
  return Math.round(seconds * SESSION_RATE);
}

function meetingVoices(folder: string): VoiceSample[] {
  const file = join(folder, "reference.rttm");
  if (!existsSync(file)) return [];
  const sound = new Map<string, Int16Array[]>();
  for (const [name, turns] of parseRttm(readFileSync(file, "utf8"))) {
    const pcm = readRecording(readFileSync(join(folder, `${name}.wav`)));
    for (const [speaker, heard] of soundBySpeaker(pcm, turns)) {
      sound.set(speaker, [...(sound.get(speaker) ?? []), heard]);
    }
  }
  return [...sound].flatMap(([speaker, parts]) => halvesOf(`ami-${speaker}`, parts));
}

function readVoices(folder: string): VoiceSample[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((name) => name.endsWith(".wav"));
  return halvesOf(
    "librivox",
    files.map((name) => readRecording(readFileSync(join(folder, name)))),
  );
}

/** Two recordings of a speaker are the halves; of one, or more than two, the middle parts them. */
function halvesOf(name: string, parts: readonly Int16Array[]): VoiceSample[] {
  const whole = joined(parts);
  if (whole.length < LEAST_SECONDS * SESSION_RATE) return [];
  const [first, second] = parts;
  const middle = whole.length >> 1;
  const halves: VoiceSample["halves"] =
    parts.length === 2 && first !== undefined && second !== undefined
      ? [first, second]
      : [whole.slice(0, middle), whole.slice(middle)];
  return [{ name, halves }];
}

async function spoken(
  name: string,
  say: (text: string) => Promise<Int16Array>,
): Promise<VoiceSample> {
  const middle = SENTENCES.length >> 1;
  return {
    name,
    halves: [
      await say(SENTENCES.slice(0, middle).join(" ")),
      await say(SENTENCES.slice(middle).join(" ")),
    ],
  };
}

/** Has Debian's `espeak-ng` say a text. Throws when it is not installed. */
async function speakWithEspeak(voice: string, pitch: number, text: string): Promise<Int16Array> {
  const folder = await mkdtemp(join(tmpdir(), "espeak-"));
  try {
    const file = join(folder, "speech.wav");
    await promisify(execFile)("espeak-ng", ["-v", voice, "-p", String(pitch), "-w", file, text], {
      timeout: 30_000,
    });
    const bytes = await readFile(file);
    const format = parseWavHeader(bytes, bytes.length);
    if (isAudioFormatError(format)) throw new Error(`espeak-ng gave no audio for ${voice}`);
    return resampled(readMono(format, bytes.subarray(format.dataOffset)), format.sampleRate);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function resampled(frames: Int16Array, rate: number): Int16Array {
  if (rate === SESSION_RATE) return frames;
  const interpolator = SincInterpolator.of(rate);
  const count = Math.floor((frames.length * SESSION_RATE) / rate);
  const { from, to } = interpolator.span(0, count);
  const padded = new Int16Array(to - from);
  padded.set(frames.subarray(Math.max(0, from), Math.min(to, frames.length)), Math.max(0, -from));
  return interpolator.read(0, count, padded);
}

function rounded(signal: Float64Array): Int16Array {
  return Int16Array.from(signal, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value))));
}

function joined(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
