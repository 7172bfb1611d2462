import { OpusDecoder } from "opus-decoder";
import { beforeAll, describe, expect, it } from "vitest";
import {
  joinOpusPackets,
  OPUS_MEDIA_TYPE,
  OPUS_PRE_ROLL,
} from "../../../../src/base/audio/opus-packets.ts";
import { OpusCodec } from "../../../../workers/audio/opus-codec.ts";
import { type AudioEvent, SessionAudio } from "../../../../workers/audio/session-audio.ts";
import { encodeOpus } from "../../../support/opus-packets.ts";
import { readConversation } from "../../../support/read-session.ts";

const FRAME = 320;
const speech = readConversation().subarray(0, 6 * 16_000);
const packets = encodeOpus(speech, FRAME);

let codec: OpusCodec;

interface Cut {
  sequence: number;
  start: number;
  length: number;
  mediaType: string;
  data: Buffer;
}

/** Chunks of `size` packets in fragments of `fragment` packets. */
function cut(size: number, fragment = size): Cut[] {
  const cuts: Cut[] = [];
  for (let at = 0; at < packets.length; ) {
    const sequence = Math.floor(at / size);
    const part = packets.slice(at, Math.min(at + fragment, (sequence + 1) * size));
    const data = Buffer.from(joinOpusPackets(part));
    const length = part.length * FRAME;
    cuts.push({ sequence, start: at * FRAME, length, mediaType: OPUS_MEDIA_TYPE, data });
    at += part.length;
  }
  return cuts;
}

function eventsOf(cuts: readonly Cut[], position = 0): AudioEvent[] {
  const audio = new SessionAudio(position, [], codec);
  for (const chunk of cuts) audio.pushChunk(chunk);
  audio.pushMark({ kind: "finish" });
  const events: AudioEvent[] = [];
  for (let event = audio.next(); event !== undefined; event = audio.next()) events.push(event);
  audio.close();
  return events;
}

function samplesOf(events: readonly AudioEvent[]): Int16Array {
  return Int16Array.from(
    events.flatMap((event) => (event.kind === "samples" ? [...event.pcm] : [])),
  );
}

/** Energy of the difference as a part of the energy of `wanted`. */
function errorShare(wanted: Int16Array, found: Int16Array): number {
  let error = 0;
  let energy = 0;
  for (const [index, value] of wanted.entries()) {
    error += (value - (found[index] ?? 0)) ** 2;
    energy += value ** 2;
  }
  return error / energy;
}

beforeAll(async () => {
  codec = await OpusCodec.load();
});

describe("opus", () => {
  it("opus: a stream is what the package's own decoder makes of it", async () => {
    const reference = new OpusDecoder({ sampleRate: 16_000, channels: 1 });
    await reference.ready;
    const [wanted] = reference.decodeFrames(packets).channelData;
    const read = samplesOf(eventsOf(cut(packets.length)));
    expect(read).toHaveLength(packets.length * FRAME);
    expect([...read]).toEqual(
      Array.from(wanted ?? [], (value) =>
        Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768))),
      ),
    );
    reference.free();
  });

  it("opus: fragments of chunks give the samples of whole chunks, and so does a resumed reading", () => {
    const chunks = cut(50);
    const whole = samplesOf(eventsOf(chunks));
    for (const fragment of [1, 3, 12]) {
      expect([...samplesOf(eventsOf(cut(50, fragment)))]).toEqual([...whole]);
    }
    for (const position of [2 * 16_000, 2 * 16_000 + 1_234]) {
      const resumed = samplesOf(eventsOf(chunks.slice(1), position));
      expect([...resumed]).toEqual([...whole.subarray(position)]);
    }
  });

  it("opus: the seams between chunks cannot be heard", () => {
    const unbroken = samplesOf(eventsOf(cut(packets.length)));
    for (const size of [1, 2, 3, 25, 50, 250]) {
      expect(errorShare(unbroken, samplesOf(eventsOf(cut(size))))).toBeLessThan(0.0001);
    }
  });

  it("opus: a reading that is resumed among chunks of 60 ms gives their samples", () => {
    const chunks = cut(3);
    const whole = samplesOf(eventsOf(chunks));
    const at = 31;
    const position = (chunks[at]?.start ?? 0) + 77;
    const needed = (chunks[at]?.start ?? 0) - OPUS_PRE_ROLL;
    const from = chunks.findLastIndex(({ start }) => start <= needed);
    const resumed = samplesOf(eventsOf(chunks.slice(from), position));
    expect([...resumed]).toEqual([...whole.subarray(position)]);
  });

  it("opus: streams of one thread do not mix", () => {
    const wanted = [...samplesOf(eventsOf(cut(50)))];
    const audios = [new SessionAudio(0, [], codec), new SessionAudio(0, [], codec)];
    const found: number[][] = [[], []];
    for (const fragment of cut(50, 2)) {
      for (const [index, audio] of audios.entries()) {
        if (index === 1 && fragment.start < 32_000) continue;
        audio.pushChunk(fragment);
        for (let event = audio.next(); event !== undefined; event = audio.next()) {
          if (event.kind === "samples") found[index]?.push(...event.pcm);
        }
      }
    }
    expect(found[0]).toEqual(wanted);
    const later = samplesOf(eventsOf(cut(50).slice(2)));
    expect(found[1]).toEqual([...later]);
    for (const audio of audios) audio.close();
  });

  it("opus: a packet that cannot be decoded is silence of its length", () => {
    const broken = [...packets.slice(0, 50)];
    // Says two frames of equal size, but has an odd number of bytes for them.
    broken.splice(20, 2, Buffer.from([(1 << 3) | 1, 1, 2, 3]));
    // Says nothing at all: it is taken for 20 ms.
    broken[29] = Buffer.alloc(0);
    const data = Buffer.from(joinOpusPackets(broken));
    const events = eventsOf([
      { sequence: 0, start: 0, length: 50 * FRAME, mediaType: OPUS_MEDIA_TYPE, data },
    ]);
    const read = samplesOf(events);
    expect(events.filter(({ kind }) => kind === "failed")).toEqual([]);
    expect(read).toHaveLength(50 * FRAME);
    expect([...read.subarray(20 * FRAME, 22 * FRAME)].every((value) => value === 0)).toBe(true);
    const clean = samplesOf(eventsOf(cut(packets.length)));
    expect([...read.subarray(0, 20 * FRAME)]).toEqual([...clean.subarray(0, 20 * FRAME)]);
    const late = errorShare(
      clean.subarray(35 * FRAME, 48 * FRAME),
      read.subarray(35 * FRAME, 48 * FRAME),
    );
    expect(late).toBeLessThan(0.5);
  });

  it("opus: bytes without a packet fail the chunk", () => {
    const data = Buffer.from([0xff, 0xff, 1]);
    const events = eventsOf([
      { sequence: 4, start: 0, length: 1_600, mediaType: OPUS_MEDIA_TYPE, data },
    ]);
    expect(events).toEqual([
      expect.objectContaining({ kind: "failed", sequence: 4, code: "not_audio" }),
      { kind: "missing", end: 1_600 },
      { kind: "finish" },
    ]);
  });
});
