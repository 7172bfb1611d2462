import type { SeededRandom } from "../support/seeded-random.ts";
import type { Run, Sound } from "./speech.ts";

/**
 * Sound that is streamed: a number of 16 bits for each frame, that names its word by itself. So
 * whatever it is cut into, each frame of each word can be told.
 */
export const TRACK_RATE = 8_000;
export const TRACK_TYPE = `audio/pcm;rate=${TRACK_RATE};channels=1;encoding=s16le`;
export const FRAME_BYTES = 2;
/** Samples of the timeline for each frame. */
export const SPREAD = 16_000 / TRACK_RATE;

/** Ends the process which reads it. */
const POISON = 0x3fff;

/** Frames from the beginning of the track. */
export interface TrackWord {
  text: string;
  start: number;
  end: number;
}

/** What a device records to stream it. */
export interface Track {
  data: Buffer;
  words: TrackWord[];
}

/** Somebody speaks, with pauses now and then. */
export function recordTrack(random: SeededRandom, seconds: number, isPoisonous: boolean): Track {
  const frames = Math.round(seconds * TRACK_RATE);
  const data = Buffer.alloc(frames * FRAME_BYTES);
  const words: TrackWord[] = [];
  let speaker = random.below(3);
  let at = 0;
  const last = isPoisonous ? random.below(frames) : frames;
  while (at < frames) {
    const isPause = random.chance(0.25);
    if (!isPause && random.chance(0.1)) speaker = random.below(3);
    const length = isPause ? 800 + random.below(7_200) : 1_600 + random.below(3_200);
    const end = Math.min(frames, at + length);
    if (!isPause) {
      const isPoison = at <= last && last < end;
      const word = isPoison ? POISON : words.length + 1;
      if (!isPoison) words.push({ text: trackText(word), start: at, end });
      data.fill(encode(word, speaker), at * FRAME_BYTES, end * FRAME_BYTES);
    }
    at = end;
  }
  return { data, words };
}

function encode(word: number, speaker: number): Buffer {
  const frame = Buffer.alloc(FRAME_BYTES);
  frame.writeUInt16LE((word << 2) | speaker);
  return frame;
}

/** What is left of it from that byte on, as chunks. */
export function cutTrack(
  { data }: Track,
  from: number,
  chunkSeconds: number,
): Omit<Sound, "name">[] {
  const step = chunkSeconds * TRACK_RATE * FRAME_BYTES;
  const sounds: Omit<Sound, "name">[] = [];
  for (let at = from; at < data.length; at += step) {
    const part = data.subarray(at, at + step);
    sounds.push({
      sequence: undefined,
      kind: "speech",
      data: part,
      mediaType: TRACK_TYPE,
      frames: part.length / FRAME_BYTES,
      sampleRate: TRACK_RATE,
      cells: [],
      from: at,
    });
  }
  return sounds;
}

export function trackText(word: number): string {
  return `s${word}`;
}

export function isPoison({ text }: Run): boolean {
  return text === trackText(POISON);
}

/** Frames that say the same, together; samples from the start. */
export function trackRuns(data: Buffer): Run[] {
  const runs: Run[] = [];
  const frames = Math.floor(data.length / FRAME_BYTES);
  for (let from = 0; from < frames; ) {
    const value = data.readUInt16LE(from * FRAME_BYTES);
    let to = from + 1;
    while (to < frames && data.readUInt16LE(to * FRAME_BYTES) === value) to += 1;
    const text = value === 0 ? undefined : trackText(value >> 2);
    runs.push({ start: from * SPREAD, end: to * SPREAD, text, speaker: value & 3 });
    from = to;
  }
  return runs;
}
