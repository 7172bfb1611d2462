import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Segment } from "../../../src/wire/gen/voice/v1/worker.ts";
import type { ResponseMessage } from "../../../workers/speech/reader.ts";
import { wordErrors } from "../../eval/word-error-rate.ts";
import { channelConversation, cutChannelChunks } from "../../support/channel-conversation.ts";
import { type RunningEngine, startMoonshine } from "../../support/moonshine-engine.ts";
import {
  chunkMessages,
  readSession,
  SessionReading,
  utterancesOf,
} from "../../support/read-session.ts";

const SECOND = 16_000;
const LIMIT_MS = 300_000;
/** A whole number of frames. */
const CUT_AT = 192 * 512;

/** All nine turns of three voices, most of them begun before the one before has ended. */
const { channels, texts } = channelConversation({ earlierMs: 2_000, silent: 1 });
const chunks = cutChannelChunks(channels, 2 * SECOND);

let engine: RunningEngine;
let unbroken: ResponseMessage[];

function durable(messages: readonly ResponseMessage[]): unknown[] {
  return messages.filter(({ $case }) => $case === "utterance" || $case === "done");
}

function segmentsOf(messages: readonly ResponseMessage[]): Segment[] {
  return utterancesOf(messages).flatMap(({ segments }) => segments);
}

/** The words of a channel in order of time. */
function wordsOn(messages: readonly ResponseMessage[], channel: number): string {
  return segmentsOf(messages)
    .filter((segment) => segment.channel === channel)
    .sort((a, b) => a.start - b.start)
    .flatMap(({ words }) => words.map(({ text }) => plain(text)))
    .join(" ");
}

/** Share of the words that were said that were heard; the made voices are not read without errors. */
function rightShare(heard: string, said: string): number {
  const { correct, reference_words } = wordErrors(said.split(" "), heard.split(" "));
  return correct / reference_words;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[.,?!]/g, "");
}

beforeAll(async () => {
  engine = await startMoonshine();
  unbroken = await readSession(engine, chunkMessages(chunks), undefined, channels.length);
}, LIMIT_MS);

afterAll(() => engine?.close());

describe("channel reading", () => {
  it("channel reading: each channel has the words of its voice, also where two speak at once", () => {
    for (const [channel, text] of texts.entries()) {
      expect(rightShare(wordsOn(unbroken, channel), plain(text))).toBeGreaterThan(0.8);
    }
    const segments = segmentsOf(unbroken).sort((a, b) => a.start - b.start);
    const overlaps = segments.filter(({ start, channel }, n) =>
      segments.slice(0, n).some((each) => each.channel !== channel && each.end > start + SECOND),
    );
    expect(overlaps.length).toBeGreaterThan(0);
  });

  it("channel reading: a segment's cluster is its channel, a silent channel has none", () => {
    const segments = segmentsOf(unbroken);
    for (const { cluster, channel } of segments) expect(cluster).toBe(channel);
    expect(new Set(segments.map(({ channel }) => channel))).toEqual(new Set([0, 1, 2]));
    expect(new Set(segments.map(({ start }) => start)).size).toBe(segments.length);
    expect(unbroken.at(-1)).toMatchObject({
      $case: "done",
      value: { finalisedTo: channels[0]?.length, speakers: { segments: [], merges: [] } },
    });
  });

  it(
    "channel reading: hypotheses name their channel and the final that they become",
    async () => {
      const finals = new Map(segmentsOf(unbroken).map(({ start, channel }) => [start, channel]));
      const reading = await SessionReading.open(engine, undefined, channels.length);
      const messages: ResponseMessage[] = [];
      const hypotheses = () =>
        messages.flatMap((each) => (each.$case === "hypothesis" ? [each.value] : []));
      for (const request of chunkMessages(cutChannelChunks(channels, SECOND / 2).slice(0, 6))) {
        messages.push(...(await reading.feed(request)));
      }
      if (hypotheses().length === 0) messages.push(...(await reading.news()));
      reading.close();
      expect(hypotheses().length).toBeGreaterThan(0);
      for (const { start, channel, cluster } of hypotheses()) {
        expect(finals.get(start)).toBe(channel);
        expect(cluster).toBe(channel);
      }
    },
    LIMIT_MS,
  );

  it("channel reading: nothing that is told as final is still to come", () => {
    let finalisedTo = 0;
    for (const { segments, finalisedTo: told = 0 } of utterancesOf(unbroken)) {
      for (const { start, channel = 0 } of segments) {
        expect(start).toBeGreaterThanOrEqual(finalisedTo - (finalisedTo % 8) + channel - 8);
      }
      finalisedTo = Math.max(finalisedTo, told);
    }
    expect(finalisedTo).toBeGreaterThan(35 * SECOND);
  });

  it(
    "channel reading: chunks of 0.13 s give the same finals",
    async () => {
      const cut = chunkMessages(cutChannelChunks(channels, 0.13 * SECOND));
      const read = await readSession(engine, cut, undefined, channels.length);
      expect(durable(read)).toEqual(durable(unbroken));
    },
    LIMIT_MS,
  );

  it(
    "channel reading: resumed from a checkpoint, it goes on the same",
    async () => {
      const finals = utterancesOf(unbroken);
      const kept = finals.flatMap(({ checkpoint }, n) => (checkpoint ? [{ n, checkpoint }] : []));
      expect(kept.length).toBeGreaterThan(0);
      for (const { n, checkpoint } of kept) {
        const { position } = checkpoint;
        const holder = chunks.findIndex(({ start, length }) => start + length > position);
        const rest = chunkMessages(chunks.slice(Math.max(0, holder - 1)));
        const read = await readSession(engine, rest, checkpoint, channels.length);
        expect(durable(read)).toEqual(durable(unbroken).slice(n + 1));
      }
    },
    LIMIT_MS,
  );

  it(
    "channel reading: a voice that other channels have faintly stands in its own alone",
    async () => {
      const bled = channelConversation({ bleed: 0.25, turns: 4 });
      const read = await readSession(
        engine,
        chunkMessages(cutChannelChunks(bled.channels, SECOND)),
        undefined,
        bled.channels.length,
      );
      for (const [channel, text] of bled.texts.entries()) {
        expect(rightShare(wordsOn(read, channel), plain(text))).toBeGreaterThan(0.6);
      }
    },
    LIMIT_MS,
  );

  it(
    "channel reading: a gap ends what all channels say, with a checkpoint behind it",
    async () => {
      const [first, second, third] = cutChannelChunks(channels, 4 * SECOND);
      if (first === undefined || second === undefined || third === undefined) {
        throw new Error("three chunks expected");
      }
      const gap = { start: second.start, length: second.length };
      const messages = await readSession(
        engine,
        [
          { $case: "chunk", value: first },
          { $case: "gap", value: gap },
          { $case: "chunk", value: third },
        ],
        undefined,
        channels.length,
      );
      const segments = segmentsOf(messages);
      for (const { start, end } of segments) {
        expect(end <= gap.start || start >= gap.start + gap.length - 8).toBe(true);
      }
      expect(new Set(segments.map(({ channel }) => channel)).size).toBeGreaterThan(1);
      const positions = utterancesOf(messages).map(({ checkpoint }) => checkpoint?.position);
      expect(positions).toContain(gap.start + gap.length);
    },
    LIMIT_MS,
  );

  it(
    "channel reading: the client may end all utterances at once",
    async () => {
      const reading = await SessionReading.open(engine, undefined, channels.length);
      try {
        const before: ResponseMessage[] = [];
        for (const request of chunkMessages(cutChannelChunks(channels, CUT_AT).slice(0, 1))) {
          before.push(...(await reading.feed(request)));
        }
        const ended = utterancesOf(await reading.feed({ $case: "finalize", value: {} }));
        const all = [...utterancesOf(before), ...ended];
        expect(
          new Set(all.flatMap(({ segments }) => segments.map((each) => each.channel))),
        ).toEqual(new Set([0, 1]));
        expect(ended.at(-1)?.checkpoint?.position).toBe(CUT_AT);
      } finally {
        reading.close();
      }
    },
    LIMIT_MS,
  );
});
