import { describe, expect, it } from "vitest";
import { findCommunities } from "../../../src/conversations/questions/graph/communities.ts";
import { shortestPath } from "../../../src/conversations/questions/graph/entity-routes.ts";
import type {
  EntityRecord,
  RelationRecord,
} from "../../../src/conversations/questions/graph/records.ts";
import { createCutter } from "../../../src/conversations/recording/stream-encoding.ts";
import type { StreamSettings } from "../../../src/conversations/recording/stream-records.ts";
import { parseQuery } from "../../../src/http/server/request.ts";
import {
  type LiveAudio,
  openLiveAudio,
  STEP_BYTES,
} from "../../../src/openai-deepgram/live-audio.ts";
import { writeFinal } from "../../../src/openai-deepgram/written-finals.ts";
import type { ResultsBody } from "../../../src/wire/live-frames.ts";
import { soundBytes } from "../../support/sound-files.ts";
import { growthOf, MOST_TIMES, type WalkedInput } from "../../support/work-growth.ts";

const MESSAGE = { largest: "a message of 1 MiB", size: 1_048_576 };
/** A larger message is read in steps. */
const STEP = { largest: "a step of a message", size: STEP_BYTES };

function of<T>(input: T, walk: (input: T) => unknown): () => unknown {
  return () => walk(input);
}

/** Packets of one byte, each after its length. */
function framedPackets(count: number): Buffer {
  return Buffer.alloc(3 * count, Buffer.of(0, 1, 0x18));
}

const FRAMED: StreamSettings = {
  ...{ encoding: "opus", sampleRate: 16_000, channels: 1, framing: "length_prefixed" },
  interim: true,
};

/** Pages of 255 packets of one byte each, of the stream that `head` begins. */
function oggPages(bytes: number, head: Buffer): Buffer {
  const page = Buffer.alloc(27 + 255 + 255, 1);
  page.fill(0, 0, 27);
  page.write("OggS", 0, "latin1");
  head.copy(page, 14, 14, 18);
  page.writeUInt8(255, 26);
  page.fill(0x18, 27 + 255);
  const pages = Buffer.alloc(bytes, page);
  return pages.subarray(0, bytes - (bytes % page.byteLength));
}

/** A cluster of blocks of one byte each. */
function webmBlocks(bytes: number): Buffer {
  const cluster = Buffer.from("1f43b67501ffffffffffffffe78100", "hex");
  return Buffer.concat([cluster, Buffer.alloc(bytes, Buffer.from("a3858100008018", "hex"))]);
}

function live(head: Uint8Array, raw?: Parameters<typeof openLiveAudio>[1]): LiveAudio {
  const opened = openLiveAudio(head, raw, true);
  if (opened === undefined) throw new Error("It takes more to tell what it is.");
  return opened.audio;
}

const [OGG, WEBM] = [soundBytes("mono.opus"), soundBytes("left.webm")];
const ALAW = { encoding: "alaw", sampleRate: 8_000, channels: 8 } as const;

/** An utterance full of numbers. */
function numbers(words: number): ResultsBody {
  const said = ["twenty", "three", "thousand", "and", "five"];
  const list = Array.from({ length: words }, (_, n) => said[n % said.length] ?? "");
  return {
    ...{ segment_id: "s", start: 0, duration: words, confidence: 1, speaker: "S1" },
    transcript: list.join(" "),
    words: list.map((word, n) => ({ word, start: n, end: n + 0.5, confidence: 1, speaker: "S1" })),
  } as unknown as ResultsBody;
}

function graphOf(entities: number): { entities: EntityRecord[]; relations: RelationRecord[] } {
  const idOf = (n: number) => `e${n}`;
  return {
    entities: Array.from({ length: entities }, (_, n) => {
      return { id: idOf(n), type: "topic", name: idOf(n) } as unknown as EntityRecord;
    }),
    relations: Array.from({ length: 2 * entities }, (_, n) => {
      // No two have the same ends: each is tied to the next one, and to the one behind that.
      const [source, step] = [n % entities, 1 + Math.floor(n / entities)];
      const [sourceId, targetId] = [idOf(source), idOf((source + step) % entities)];
      return {
        sourceId,
        targetId,
        kind: "related",
        weight: 1 + (n % 5),
      } as unknown as RelationRecord;
    }),
  };
}

const PLACES: readonly WalkedInput[] = [
  {
    ...{ place: "a stream's message of packets of one byte", largest: "65,536", size: 65_536 },
    prepare: (size) => of(framedPackets(size), (message) => createCutter(FRAMED).push(message)),
  },
  {
    ...{ place: "a live message of Ogg pages of packets of one byte", ...STEP },
    prepare: (size) => of(oggPages(size, OGG), (message) => live(OGG).take(message)),
  },
  {
    ...{ place: "the beginning of a live Ogg, with pages of packets of one byte", ...MESSAGE },
    prepare: (size) => of(Buffer.concat([OGG, oggPages(size, OGG)]), live),
  },
  {
    ...{ place: "a live message of WebM blocks of one byte", ...STEP },
    prepare: (size) => of(webmBlocks(size), (message) => live(WEBM).take(message)),
  },
  {
    ...{ place: "a live message of A-law in eight channels", ...MESSAGE },
    prepare: (size) =>
      of(Buffer.alloc(size, 0x35), (message) => live(message.subarray(0, 64), ALAW).take(message)),
  },
  {
    ...{ place: "a final of numbers, written in digits", largest: "30 s", size: 150 },
    prepare: (size) =>
      of(numbers(size), (frame) =>
        writeFinal(frame, { style: "readable", numbers: "digits" }, { language: "en" }),
      ),
  },
  {
    ...{ place: "the groups of a graph", largest: "500 entities", size: 500 },
    prepare: (size) =>
      of(graphOf(size), ({ entities, relations }) => findCommunities(entities, relations)),
  },
  {
    ...{ place: "the shortest way through a graph", largest: "20,000 ties", size: 10_000 },
    prepare: (size) =>
      of(graphOf(size), ({ relations }) => shortestPath(relations, "e0", `e${size - 1}`)),
  },
  {
    ...{ place: "a query of one name, repeated", largest: "16 KiB", size: 16_384 },
    prepare: (size) => of("a&".repeat(size / 2), parseQuery),
  },
];

describe("work for streams and answers", () => {
  it.each(PLACES)("work: $place takes in proportion to its input", (walked) => {
    const { times, ms, most } = growthOf(walked);
    expect(times).toBeLessThanOrEqual(MOST_TIMES);
    expect(ms).toBeLessThanOrEqual(most);
  });
});
