import { readFileSync } from "node:fs";
import type { AudioChunk } from "../../src/wire/gen/voice/v1/worker.ts";
import { readConversation } from "./read-session.ts";

const TURNS = new URL("../../deploy/demo/conversation.json", import.meta.url);
const SAMPLES_PER_MS = 16;

interface Turn {
  speaker: string;
  start_ms: number;
  end_ms: number;
  text: string;
}

interface ChannelOptions {
  /** How much earlier each turn but the first begins, so that they overlap, milliseconds. */
  earlierMs?: number;
  /** How many turns, of 9. */
  turns?: number;
  /** How loud each voice is on the channels of the others, as a factor. */
  bleed?: number;
  /** Silent channels after those of the voices. */
  silent?: number;
}

export interface ChannelConversation {
  /** The samples of each channel at 16 kHz. */
  channels: Int16Array[];
  /** What is said on each channel. */
  texts: string[];
}

/** The shipped conversation with a channel for each of its voices, in order of first speech. */
export function channelConversation(options: ChannelOptions = {}): ChannelConversation {
  const { earlierMs = 0, bleed = 0, silent = 0 } = options;
  const conversation: { turns: Turn[] } = JSON.parse(readFileSync(TURNS, "utf8"));
  const turns = conversation.turns.slice(0, options.turns);
  const pcm = readConversation();
  const speakers = [...new Set(turns.map(({ speaker }) => speaker))];
  const length = ((turns.at(-1)?.end_ms ?? 0) + 1_000) * SAMPLES_PER_MS;
  const voices = speakers.map((speaker) => {
    const voice = new Float64Array(length);
    for (const [index, { start_ms, end_ms }] of turns.entries()) {
      if (turns[index]?.speaker !== speaker) continue;
      const from = start_ms * SAMPLES_PER_MS;
      const samples = pcm.subarray(from, end_ms * SAMPLES_PER_MS);
      voice.set(samples, from - (index > 0 ? earlierMs * SAMPLES_PER_MS : 0));
    }
    return voice;
  });
  const heard = voices.map((voice, channel) =>
    Int16Array.from(voice, (own, at) =>
      voices.reduce((sum, other, n) => (n === channel ? sum : sum + bleed * (other[at] ?? 0)), own),
    ),
  );
  const nothing = Array.from({ length: silent }, () => new Int16Array(length));
  return {
    channels: [...heard, ...nothing],
    texts: speakers.map((speaker) =>
      turns.flatMap((turn) => (turn.speaker === speaker ? [turn.text] : [])).join(" "),
    ),
  };
}

/** One after the other the samples of all channels of each frame. */
export function interleaved(channels: readonly Int16Array[]): Int16Array {
  const [first] = channels;
  const all = new Int16Array((first?.length ?? 0) * channels.length);
  for (const [channel, samples] of channels.entries()) {
    for (let at = 0; at < samples.length; at++)
      all[at * channels.length + channel] = samples[at] ?? 0;
  }
  return all;
}

/** Chunks of raw PCM at 16 kHz, all but the last of `size` frames. */
export function cutChannelChunks(channels: readonly Int16Array[], size: number): AudioChunk[] {
  const count = channels.length;
  const pcm = interleaved(channels);
  const frames = pcm.length / count;
  return Array.from({ length: Math.ceil(frames / size) }, (_, sequence) => {
    const samples = pcm.slice(sequence * size * count, (sequence + 1) * size * count);
    return {
      sequence,
      start: sequence * size,
      length: samples.length / count,
      mediaType: `audio/pcm;rate=16000;channels=${count};encoding=s16le`,
      data: Buffer.from(samples.buffer),
    };
  });
}
