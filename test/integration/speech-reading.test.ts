import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  ChunkFailed,
  Done,
  Hypothesis,
  Progress,
} from "../../src/wire/gen/voice/v1/worker.ts";
import type { ResponseMessage } from "../../workers/speech/reader.ts";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";
import {
  chunkMessages,
  cutChunks,
  readConversation,
  readSession,
  SessionReading,
  textOf,
  utterancesOf,
} from "../support/read-session.ts";

const SECOND = 16_000;
const LIMIT_MS = 300_000;

/** The first half: five turns of three voices. */
const pcm = readConversation().subarray(0, 22 * SECOND);
const chunks = cutChunks(pcm, 2 * SECOND);

let engine: RunningEngine;
let unbroken: ResponseMessage[];

/** What is durable of a reading: finals and the last word on speakers. */
function durable(messages: readonly ResponseMessage[]): unknown[] {
  return messages.filter(({ $case }) => $case === "utterance" || $case === "done");
}

function progressOf(messages: readonly ResponseMessage[]): Progress[] {
  return messages.flatMap((message) => (message.$case === "progress" ? [message.value] : []));
}

function hypothesesOf(messages: readonly ResponseMessage[]): Hypothesis[] {
  return messages.flatMap((message) => (message.$case === "hypothesis" ? [message.value] : []));
}

function failuresOf(messages: readonly ResponseMessage[]): ChunkFailed[] {
  return messages.flatMap((message) => (message.$case === "chunkFailed" ? [message.value] : []));
}

function doneOf(messages: readonly ResponseMessage[]): Done[] {
  return messages.flatMap((message) => (message.$case === "done" ? [message.value] : []));
}

beforeAll(async () => {
  engine = await startMoonshine();
  unbroken = await readSession(engine, chunkMessages(chunks));
}, LIMIT_MS);

afterAll(() => engine?.close());

describe("speech reading", () => {
  it("speech reading: hears the conversation", () => {
    expect(textOf(unbroken)).toMatch(/^Hello everyone[,.!] today we will talk about the/i);
    const words = utterancesOf(unbroken).flatMap(({ segments }) =>
      segments.flatMap((segment) => segment.words),
    );
    for (const [index, word] of words.entries()) {
      expect(word.text).toMatch(/^\S+$/);
      expect(word.end).toBeGreaterThan(word.start);
      expect(word.start).toBeGreaterThanOrEqual(words[index - 1]?.end ?? 0);
      expect(word.confidence).toBeGreaterThan(0);
      expect(word.confidence).toBeLessThanOrEqual(1);
    }
  });

  it(
    "speech reading: chunks of half a second give the same finals",
    async () => {
      const cut = chunkMessages(cutChunks(pcm, SECOND / 2));
      expect(durable(await readSession(engine, cut))).toEqual(durable(unbroken));
    },
    LIMIT_MS,
  );

  it(
    "speech reading: resumed from any checkpoint, on other threads, it goes on the same",
    async () => {
      const other = await startMoonshine();
      const finals = utterancesOf(unbroken);
      expect(finals.length).toBeGreaterThan(3);
      for (const [index, { checkpoint }] of finals.entries()) {
        const position = checkpoint?.position ?? 0;
        const holder = chunks.findIndex(({ start, length }) => start + length > position);
        const from = holder < 0 ? chunks.length - 1 : Math.max(0, holder - 1);
        const rest = await readSession(other, chunkMessages(chunks.slice(from)), checkpoint);
        expect(durable(rest)).toEqual(durable(unbroken).slice(index + 1));
      }
      other.close();
    },
    LIMIT_MS,
  );

  it(
    "speech reading: a stream that pauses within a word goes on as if it had not",
    async () => {
      const words = utterancesOf(unbroken).flatMap(({ segments }) =>
        segments.flatMap((segment) => segment.words),
      );
      const reading = await SessionReading.open(engine);
      const messages: ResponseMessage[] = [];
      let from = 0;
      for (const { start, end } of words) {
        const at = Math.round((start + end) / 2);
        for (const value of cutChunks(pcm.subarray(from, at), SECOND / 2, from)) {
          messages.push(...(await reading.feed({ $case: "chunk", value })));
        }
        const value = { unlessSpeaking: true };
        messages.push(...(await reading.feed({ $case: "finalize", value })));
        from = at;
      }
      for (const value of cutChunks(pcm.subarray(from), SECOND / 2, from)) {
        messages.push(...(await reading.feed({ $case: "chunk", value })));
      }
      messages.push(...(await reading.feed({ $case: "finish", value: {} })));
      reading.close();
      expect(words.length).toBeGreaterThan(20);
      expect(textOf(messages)).toBe(textOf(unbroken));
    },
    LIMIT_MS,
  );

  it("speech reading: finals follow one another and progress never goes back", () => {
    const finals = utterancesOf(unbroken);
    for (const [index, { start, end, checkpoint }] of finals.entries()) {
      expect(start).toBeGreaterThanOrEqual(finals[index - 1]?.end ?? 0);
      expect(checkpoint?.position).toBe(end);
    }
    const progress = progressOf(unbroken);
    for (const [index, { processedTo, finalisedTo }] of progress.entries()) {
      const before = progress[index - 1] ?? { processedTo: 0, finalisedTo: 0 };
      expect(processedTo - before.processedTo).toBeLessThanOrEqual(SECOND + 512);
      expect(processedTo).toBeGreaterThanOrEqual(before.processedTo);
      expect(finalisedTo).toBeGreaterThanOrEqual(before.finalisedTo);
    }
    expect(doneOf(unbroken)).toMatchObject([{ finalisedTo: pcm.length }]);
  });

  it(
    "speech reading: hypotheses grow with rising revisions inside the coming utterance",
    async () => {
      const reading = await SessionReading.open(engine);
      const messages: ResponseMessage[] = [];
      const starts = new Set(utterancesOf(unbroken).map(({ start }) => start));
      for (const value of cutChunks(pcm.subarray(0, 5 * SECOND), SECOND / 2)) {
        messages.push(...(await reading.feed({ $case: "chunk", value })));
        const isTold = messages.some(({ $case }) => $case === "speechStarted");
        // Not more than one of them: later ones wait for the pace.
        if (isTold && hypothesesOf(messages).length === 0 && value.start >= SECOND) {
          messages.push(...(await reading.news()));
        }
      }
      messages.push(...(await reading.feed({ $case: "finish", value: {} })));
      reading.close();
      const hypotheses = hypothesesOf(messages);
      expect(hypotheses.length).toBeGreaterThan(0);
      const revisions = new Map<number, number>();
      for (const { start, revision, words, stableWords } of hypotheses) {
        expect(stableWords).toBeLessThanOrEqual(words.length);
        expect(starts).toContain(start);
        expect(revision).toBe((revisions.get(start) ?? 0) + 1);
        expect(words.length).toBeGreaterThan(0);
        revisions.set(start, revision);
      }
    },
    LIMIT_MS,
  );

  it(
    "speech reading: a gap and a broken chunk end the utterance, and what follows is read",
    async () => {
      const [first, second, third] = cutChunks(pcm, 3 * SECOND);
      if (first === undefined || second === undefined || third === undefined) {
        throw new Error("three chunks expected");
      }
      const messages = await readSession(engine, [
        { $case: "chunk", value: first },
        { $case: "gap", value: { start: second.start, length: second.length } },
        { $case: "chunk", value: third },
        {
          $case: "chunk",
          value: {
            ...first,
            sequence: 3,
            start: third.start + third.length,
            mediaType: "audio/wav",
            data: Buffer.from("no audio"),
          },
        },
      ]);
      expect(failuresOf(messages)).toMatchObject([{ sequence: 3, code: "not_audio" }]);
      for (const { start, end } of utterancesOf(messages)) {
        const inFirst = end <= second.start;
        const inThird = start >= third.start && end <= third.start + third.length;
        expect(inFirst || inThird).toBe(true);
      }
      expect(doneOf(messages)).toMatchObject([{ finalisedTo: 12 * SECOND }]);
    },
    LIMIT_MS,
  );

  it(
    "speech reading: while much waits it is read first, and no hypothesis is told",
    async () => {
      const messages = await readSession(engine, chunkMessages(cutChunks(pcm, pcm.length)));
      expect(durable(messages)).toEqual(durable(unbroken));
      for (const { end } of hypothesesOf(messages)) {
        expect(end).toBeGreaterThanOrEqual(pcm.length - 1.2 * SECOND);
      }
    },
    LIMIT_MS,
  );

  it(
    "speech reading: finalize ends the utterance in hand at once, and what follows is read on",
    async () => {
      // In the midst of a sentence.
      const at = 3.55 * SECOND;
      const pieces = [
        ...cutChunks(pcm.subarray(0, at), 0.06 * SECOND),
        ...cutChunks(pcm.subarray(at, 14 * SECOND), 0.06 * SECOND, at),
      ];
      const before = pieces.filter(({ start }) => start < at).length;
      const reading = await SessionReading.open(engine);
      const feedAll = async (values: typeof pieces): Promise<ResponseMessage[]> => {
        const messages: ResponseMessage[] = [];
        for (const value of values)
          messages.push(...(await reading.feed({ $case: "chunk", value })));
        return messages;
      };
      const heardBefore = utterancesOf(await feedAll(pieces.slice(0, before)));
      const inHand = heardBefore.at(-1)?.end ?? 0;
      expect(inHand).toBeLessThan(at - SECOND);
      const ended = utterancesOf(await reading.feed({ $case: "finalize", value: {} }));
      expect(ended).toMatchObject([{ end: at, checkpoint: { position: at } }]);
      expect(ended[0]?.segments.length).toBeGreaterThan(0);
      expect(utterancesOf(await reading.feed({ $case: "finalize", value: {} }))).toEqual([]);
      const rest = await feedAll(pieces.slice(before));
      const last = await reading.feed({ $case: "finish", value: {} });
      reading.close();
      const after = utterancesOf([...rest, ...last]);
      expect(after[0]?.start).toBeGreaterThanOrEqual(at);
      const unhurried = utterancesOf(unbroken)
        .filter(({ start, end }) => start > at && end < 13 * SECOND)
        .map(({ segments }) => segments.flatMap(({ words }) => words.map(({ text }) => text)));
      expect(unhurried.length).toBeGreaterThan(0);
      const heard = textOf([...rest, ...last]).split(" ");
      const wanted = unhurried.flat();
      expect(wanted.filter((word) => heard.includes(word)).length / wanted.length).toBeGreaterThan(
        0.8,
      );
    },
    LIMIT_MS,
  );

  it(
    "speech reading: silence, hiss, hum, clicks and a tone give no words",
    async () => {
      const length = 10 * SECOND;
      const hiss = (index: number): number => (((index * 7919) % 1009) / 1009 - 0.5) * 60;
      const sounds: ((index: number) => number)[] = [
        () => 0,
        hiss,
        (index) => 3_000 * Math.sin((index * 2 * Math.PI * 50) / SECOND) + hiss(index),
        (index) => (index % 9_000 < 40 ? 600 : 1) * hiss(index),
        (index) => 5_000 * Math.sin((index * 2 * Math.PI * 440) / SECOND),
      ];
      for (const sound of sounds) {
        const audio = Int16Array.from({ length }, (_, index) => sound(index));
        const messages = await readSession(engine, chunkMessages(cutChunks(audio, SECOND)));
        expect(textOf(messages)).toBe("");
      }
    },
    LIMIT_MS,
  );

  it("speech reading: long silence brings a checkpoint", async () => {
    const silence = new Int16Array(45 * SECOND);
    const messages = await readSession(engine, chunkMessages(cutChunks(silence, 5 * SECOND)));
    expect(utterancesOf(messages)).toMatchObject([
      { segments: [], checkpoint: { position: 20 * SECOND } },
      { segments: [], checkpoint: { position: 40 * SECOND } },
    ]);
  });

  it("speech reading: another language and a foreign checkpoint are refused", async () => {
    const { SessionReader } = await import("../../workers/speech/session-reader.ts");
    const deps = {
      engine: engine.engine,
      createRecogniser: () => engine.create(),
      createTracker: (checkpoint?: Uint8Array) => engine.createTracker(checkpoint),
    };
    const open = { sessionId: "s", attempt: 1, vocabulary: [], interimResults: false };
    await expect(SessionReader.open({ ...open, language: "de" }, deps)).rejects.toMatchObject({
      code: "bad_request",
    });
    const checkpoint = { position: 5, recogniser: Buffer.from("{}"), speakers: Buffer.alloc(0) };
    await expect(
      SessionReader.open({ ...open, language: "", checkpoint }, deps),
    ).rejects.toMatchObject({ code: "bad_request" });
  });
});
