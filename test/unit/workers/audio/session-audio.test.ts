import { beforeAll, describe, expect, it } from "vitest";
import { OPUS_PRE_ROLL } from "../../../../src/base/audio/opus-packets.ts";
import { channelOf } from "../../../../src/base/audio/pcm-samples.ts";
import { toSessionSamples } from "../../../../src/base/audio/sample-rate.ts";
import { Resampler } from "../../../../workers/audio/resampler.ts";
import { type AudioEvent, SessionAudio } from "../../../../workers/audio/session-audio.ts";

interface Chunk {
  sequence: number;
  start: number;
  length: number;
  mediaType: string;
  data: Buffer;
}

function tone(rate: number, seconds: number): Int16Array {
  const value = (index: number): number =>
    8_000 * Math.sin((index * 2 * Math.PI * 440) / rate) +
    2_000 * Math.sin((index * 2 * Math.PI * 3_000) / rate);
  return Int16Array.from({ length: Math.round(rate * seconds) }, (_, index) => value(index));
}

function cut(pcm: Int16Array, rate: number, sizes: (sequence: number) => number): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 0; at < pcm.length; ) {
    const samples = pcm.slice(at, at + sizes(chunks.length));
    const start = toSessionSamples(at, rate);
    at += samples.length;
    const length = toSessionSamples(at, rate) - start;
    const mediaType = `audio/pcm;rate=${rate};channels=1;encoding=s16le`;
    const data = Buffer.from(samples.buffer);
    chunks.push({ sequence: chunks.length, start, length, mediaType, data });
  }
  return chunks;
}

/** 40 to 250 ms each; their lengths are those of their chunk together. */
function fragmentsOf(chunk: Chunk, rate: number): Chunk[] {
  const pcm = new Int16Array(chunk.data.buffer, chunk.data.byteOffset, chunk.data.length / 2);
  const sizes = (fragment: number) => Math.round(rate * (0.04 + ((fragment * 0.077) % 0.21)));
  return cut(pcm, rate, sizes).map((fragment, index, all) => {
    const end = all[index + 1]?.start ?? chunk.length;
    const start = chunk.start + fragment.start;
    return { ...fragment, sequence: chunk.sequence, start, length: end - fragment.start };
  });
}

function drain(audio: SessionAudio): AudioEvent[] {
  const events: AudioEvent[] = [];
  for (;;) {
    const event = audio.next();
    if (event === undefined) return events;
    if (event.kind !== "samples" || event.pcm.length > 0) events.push(event);
  }
}

/** All samples by position; throws when they overlap, or leave a hole. */
function samplesOf(events: readonly AudioEvent[]): { start: number; pcm: number[] } {
  const parts = events.flatMap((event) => (event.kind === "samples" ? [event] : []));
  const start = parts[0]?.start ?? 0;
  const pcm: number[] = [];
  for (const part of parts) {
    expect(part.start).toBe(start + pcm.length);
    expect(part.pcm.length).toBeLessThanOrEqual(1_600);
    pcm.push(...part.pcm);
  }
  return { start, pcm };
}

function readAll(chunks: readonly Chunk[]): { start: number; pcm: number[] } {
  const audio = new SessionAudio(0);
  for (const chunk of chunks) audio.pushChunk(chunk);
  audio.pushMark({ kind: "finish" });
  const events = drain(audio);
  audio.close();
  return samplesOf(events);
}

beforeAll(() => Resampler.load());

/** Reads all events of the chunks. */
function pcmOf(chunks: readonly Chunk[], channels?: number): Int16Array {
  const audio = new SessionAudio(0, [], undefined, channels);
  for (const chunk of chunks) audio.pushChunk(chunk);
  audio.pushMark({ kind: "finish" });
  const parts: number[] = [];
  for (let event = audio.next(); event?.kind !== "finish"; event = audio.next()) {
    if (event?.kind === "samples") parts.push(...event.pcm);
  }
  audio.close();
  return Int16Array.from(parts);
}

describe("session audio", () => {
  it("session audio: 16 kHz passes untouched, whatever the chunks", () => {
    const pcm = tone(16_000, 1.23);
    const read = readAll(cut(pcm, 16_000, (sequence) => 1 + ((sequence * 977) % 5_000)));
    expect(read.pcm).toEqual([...pcm]);
  });

  it.each([8_000, 16_000, 44_100])(
    "session audio: at %d Hz each channel has the samples that it has alone",
    (rate) => {
      const left = tone(rate, 1.3);
      const right = left.map((sample) => -sample / 3);
      const both = new Int16Array(2 * left.length);
      for (const [at, sample] of left.entries()) both.set([sample, right[at] ?? 0], 2 * at);
      const chunks = (pcm: Int16Array, channels: number) =>
        cut(pcm, rate * channels, () => channels * 7_777).map((chunk, n, all) => ({
          ...chunk,
          start: toSessionSamples(n * 7_777, rate),
          length:
            toSessionSamples(n + 1 < all.length ? (n + 1) * 7_777 : left.length, rate) -
            toSessionSamples(n * 7_777, rate),
          mediaType: `audio/pcm;rate=${rate};channels=${channels};encoding=s16le`,
        }));
      const heard = pcmOf(chunks(both, 2), 2);
      expect(channelOf(heard, 0, 2)).toEqual(pcmOf(chunks(left, 1)));
      expect(channelOf(heard, 1, 2)).toEqual(pcmOf(chunks(right, 1)));
    },
  );

  it.each([8_000, 11_025, 24_000, 44_100, 48_000])(
    "session audio: samples at %d Hz do not depend on the cuts",
    (rate) => {
      const pcm = tone(rate, 2.345);
      const whole = readAll(cut(pcm, rate, () => pcm.length));
      const fragments = readAll(cut(pcm, rate, (sequence) => 100 + ((sequence * 977) % 9_001)));
      expect(whole.pcm).toHaveLength(toSessionSamples(pcm.length, rate));
      expect(fragments.pcm).toEqual(whole.pcm);
    },
  );

  it.each([8_000, 44_100, 48_000])(
    "session audio: resumed one chunk early, samples at %d Hz are the same",
    (rate) => {
      const chunks = cut(tone(rate, 4), rate, (sequence) => Math.round(rate * 0.4) + sequence);
      const whole = readAll(chunks).pcm;
      const first = new SessionAudio(0);
      for (const chunk of chunks.slice(0, 6)) first.pushChunk(chunk);
      drain(first);
      const holder = chunks[4];
      const position = (holder?.start ?? 0) + 1_234;
      const phases = JSON.parse(JSON.stringify(first.phasesAt(position)));
      first.close();
      const resumed = new SessionAudio(position, phases);
      for (const chunk of chunks.slice(3)) resumed.pushChunk(chunk);
      resumed.pushMark({ kind: "finish" });
      const rest = samplesOf(drain(resumed));
      resumed.close();
      expect(rest.start).toBe(position);
      expect(rest.pcm).toEqual(whole.slice(position));
    },
  );

  it.each([8_000, 44_100, 48_000])(
    "session audio: resumed among chunks of 30 ms, samples at %d Hz are the same",
    (rate) => {
      const chunks = cut(tone(rate, 2), rate, (sequence) => Math.round(rate * 0.03) + sequence);
      const whole = readAll(chunks).pcm;
      const first = new SessionAudio(0);
      for (const chunk of chunks.slice(0, 40)) first.pushChunk(chunk);
      drain(first);
      const holder = chunks[35]?.start ?? 0;
      const position = holder + 111;
      const phases = JSON.parse(JSON.stringify(first.phasesAt(position)));
      first.close();
      const from = chunks.findLastIndex(({ start }) => start <= holder - OPUS_PRE_ROLL);
      expect(from).toBeLessThan(26);
      const resumed = new SessionAudio(position, phases);
      for (const chunk of chunks.slice(from)) resumed.pushChunk(chunk);
      resumed.pushMark({ kind: "finish" });
      const rest = samplesOf(drain(resumed));
      resumed.close();
      expect(rest).toEqual({ start: position, pcm: whole.slice(position) });
    },
  );

  it.each([8_000, 44_100, 48_000])(
    "session audio: samples at %d Hz are the same in fragments, and resumed from whole chunks after fragments",
    (rate) => {
      const chunks = cut(tone(rate, 4), rate, (sequence) => Math.round(rate * 0.7) + sequence);
      const whole = readAll(chunks).pcm;
      const fragments = chunks.flatMap((chunk) => fragmentsOf(chunk, rate));
      expect(fragments.length).toBeGreaterThan(4 * chunks.length);
      expect(readAll(fragments).pcm).toEqual(whole);
      const position = (chunks[2]?.start ?? 0) + 1_234;
      const first = new SessionAudio(0);
      for (const fragment of fragments.filter(({ sequence }) => sequence <= 4))
        first.pushChunk(fragment);
      drain(first);
      const phases = JSON.parse(JSON.stringify(first.phasesAt(position)));
      first.close();
      const resumed = new SessionAudio(position, phases);
      for (const chunk of chunks.slice(1, 4)) resumed.pushChunk(chunk);
      for (const fragment of fragments.filter(({ sequence }) => sequence > 3))
        resumed.pushChunk(fragment);
      resumed.pushMark({ kind: "finish" });
      const rest = samplesOf(drain(resumed));
      resumed.close();
      expect(rest).toEqual({ start: position, pcm: whole.slice(position) });
    },
  );

  it("session audio: a fragment is given out at once, however short", () => {
    const [chunk] = cut(tone(16_000, 1), 16_000, () => 16_000);
    if (chunk === undefined) throw new Error("a chunk expected");
    const audio = new SessionAudio(0);
    let end = 0;
    for (const fragment of fragmentsOf(chunk, 16_000)) {
      audio.pushChunk(fragment);
      end += fragment.length;
      const read = samplesOf(drain(audio));
      expect(read.start + read.pcm.length).toBe(end);
    }
    audio.close();
  });

  it("session audio: a gap moves the position, and resampling begins afresh", () => {
    const [first, second] = cut(tone(48_000, 2), 48_000, () => 48_000);
    if (first === undefined || second === undefined) throw new Error("two chunks expected");
    const audio = new SessionAudio(0);
    audio.pushChunk(first);
    audio.pushGap({ start: 16_000, length: 8_000 });
    audio.pushChunk({ ...second, start: 24_000 });
    expect(audio.queuedSamples()).toBe(40_000);
    const events = drain(audio);
    const gap = events.findIndex((event) => event.kind === "missing");
    expect(events[gap]).toEqual({ kind: "missing", end: 24_000, isGap: true });
    expect(samplesOf(events.slice(0, gap)).pcm).toHaveLength(16_000);
    expect(samplesOf(events.slice(gap)).start).toBe(24_000);
    expect(audio.queuedSamples()).toBe(0);
    audio.close();
  });

  it("session audio: a hole between chunks is a gap", () => {
    const [chunk] = cut(tone(16_000, 1), 16_000, () => 16_000);
    if (chunk === undefined) throw new Error("a chunk expected");
    const audio = new SessionAudio(0);
    audio.pushChunk({ ...chunk, start: 5_000 });
    expect(drain(audio)[0]).toEqual({ kind: "missing", end: 5_000 });
    audio.close();
  });

  it("session audio: a chunk that is no audio fails, and its span is missing", () => {
    const audio = new SessionAudio(0);
    const data = Buffer.from("this is no audio at all");
    audio.pushChunk({ sequence: 7, start: 0, length: 1_600, mediaType: "audio/wav", data });
    audio.pushMark({ kind: "finish" });
    expect(drain(audio)).toEqual([
      expect.objectContaining({ kind: "failed", sequence: 7, code: "not_audio" }),
      { kind: "missing", end: 1_600 },
      { kind: "finish" },
    ]);
    audio.close();
  });

  it("session audio: samples short of the declared length are missing, more are cut", () => {
    const [chunk] = cut(tone(16_000, 1), 16_000, () => 16_000);
    if (chunk === undefined) throw new Error("a chunk expected");
    const short = new SessionAudio(0);
    short.pushChunk({ ...chunk, length: 20_000 });
    expect(drain(short).at(-1)).toEqual({ kind: "missing", end: 20_000 });
    short.close();
    const long = new SessionAudio(0);
    long.pushChunk({ ...chunk, length: 10_000 });
    expect(samplesOf(drain(long)).pcm).toHaveLength(10_000);
    long.close();
  });

  it("session audio: the rate may change between chunks", () => {
    const [first] = cut(tone(48_000, 1), 48_000, () => 48_000);
    const [second] = cut(tone(8_000, 1), 8_000, () => 8_000);
    if (first === undefined || second === undefined) throw new Error("two chunks expected");
    const read = readAll([first, { ...second, sequence: 1, start: 16_000 }]);
    expect(read.pcm).toHaveLength(32_000);
  });
});
