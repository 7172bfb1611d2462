import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { toSessionSamples } from "../../src/base/audio/sample-rate.ts";
import { loadDecoders } from "../../src/base/codecs/sound-reader.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import type { Reply } from "../../src/rest/route.ts";
import { type Call, callRoute, codeOf } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";
import {
  decodedSound,
  envelope,
  likeness,
  SOUND_NAMES,
  soundBytes,
} from "../support/sound-files.ts";

const HEADER = 44;

async function bytesOf(reply: Reply): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const signal = new AbortController().signal;
  for await (const part of reply.stream?.open(signal) ?? []) parts.push(Buffer.from(part));
  const all = Buffer.concat(parts);
  expect(all.length).toBe(reply.stream?.length);
  return all;
}

function samplesOf(file: Buffer): Int16Array {
  return new Int16Array(file.buffer.slice(file.byteOffset + HEADER, file.byteOffset + file.length));
}

/** A tone, so that every sample differs from its neighbours. */
function tone(rate: number, count: number, from = 0): Int16Array {
  return Int16Array.from({ length: count }, (_, index) =>
    Math.round(9_000 * Math.sin(((from + index) * 2 * Math.PI * 333) / rate)),
  );
}

function raw(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

describe("session audio", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    ({ device, owner } = await fixture.ownDevice());
  });
  afterAll(() => fixture.close());

  /** A session with these chunks on its timeline; a sequence that is left out stays a hole. */
  async function record(chunks: { sequence: number; samples: Int16Array; rate?: number }[]) {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    let at = 0;
    for (const { sequence, samples, rate = 16_000 } of chunks) {
      const mediaType = `audio/pcm;rate=${rate};channels=1;encoding=s16le`;
      const { body } = await fixture.upload(device, sessionId, sequence, raw(samples), {
        mediaType,
      });
      const start = toSessionSamples(at, rate);
      at += samples.length;
      const length = toSessionSamples(at, rate) - start;
      await story.tell([
        { type: "ChunkPlaced", chunkId: String(body.chunk_id), sequence, start, length },
      ]);
    }
    await fixture.stop(device, { session_id: sessionId });
    return { sessionId, story };
  }

  function get(sessionId: string, call: Call = {}): Promise<Reply> {
    return callRoute(fixture.routes, "getSessionAudio", {
      principal: owner,
      params: { session_id: sessionId },
      ...call,
    });
  }

  it("session audio: compressed files play on one timeline, in ranges too", async () => {
    await loadDecoders();
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    let at = 0;
    for (const [sequence, name] of SOUND_NAMES.entries()) {
      const uploaded = await fixture.upload(device, sessionId, sequence, soundBytes(name));
      expect(uploaded.status).toBe(201);
      const { chunk_id, duration_seconds } = uploaded.body;
      const length = Math.floor(Number(duration_seconds) * 16_000);
      const chunkId = String(chunk_id);
      await story.tell([{ type: "ChunkPlaced", chunkId, sequence, start: at, length }]);
      at += length;
    }
    await fixture.stop(device, { session_id: sessionId });
    const played = samplesOf(await bytesOf(await get(sessionId)));
    expect(played.length).toBe(at);
    const lossless = envelope(decodedSound(soundBytes("mono-16000.flac")), 16_000);
    for (let index = 0; index < SOUND_NAMES.length; index += 1) {
      const from = Math.round((at / SOUND_NAMES.length) * index);
      const part = envelope(played.subarray(from, from + 22_400), 16_000);
      expect(likeness(lossless, part)).toBeGreaterThan(0.95);
    }
    const range = await get(sessionId, { headers: { range: "bytes=70044-140043" } });
    expect(range.status).toBe(206);
    const bytes = await bytesOf(range);
    expect(new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + 70_000))).toEqual(
      played.subarray(35_000, 70_000),
    );
  });

  it("session audio: a late chunk that is longer than its place plays whole, and the session keeps its time", async () => {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    const [first, late, last] = [tone(16_000, 8_000), tone(16_000, 8_000, 9), tone(16_000, 4_000)];
    const mediaType = "audio/pcm;rate=16000;channels=1;encoding=s16le";
    const ids: string[] = [];
    for (const [sequence, samples] of [first, late, last].entries()) {
      const { body } = await fixture.upload(device, sessionId, sequence, raw(samples), {
        mediaType,
      });
      ids.push(String(body.chunk_id));
    }
    await fixture.stop(device, { session_id: sessionId });
    const [zero = "", one = "", two = ""] = ids;
    await story.tell([
      { type: "ChunkPlaced", chunkId: zero, sequence: 0, start: 0, length: 8_000 },
      { type: "ChunkPlaced", chunkId: two, sequence: 2, start: 13_000, length: 4_000 },
      { type: "GapFilled", chunkId: one, sequence: 1, start: 8_000, length: 5_000 },
    ]);
    const chunk = async (chunk_sequence: string) => {
      const call = { principal: owner, params: { session_id: sessionId, chunk_sequence } };
      return samplesOf(await bytesOf(await callRoute(fixture.routes, "getChunkAudio", call)));
    };
    expect(await chunk("1")).toEqual(late);
    for (const unknown of ["3", "x", "1e0"]) expect(await codeOf(chunk(unknown))).toBe("not_found");
    const whole = [...first, ...late.slice(0, 5_000), ...last];
    expect([...samplesOf(await bytesOf(await get(sessionId)))]).toEqual(whole);
    // What was taken out of the end of its place took what had no room there with it.
    const redact = (from: number, to: number) =>
      fixture.sql(
        "insert into redactions (id, session_id, start_sample, end_sample) values ($1, $2, $3, $4)",
        [newId(), sessionId, from, to],
      );
    await redact(9_000, 10_000);
    expect(await chunk("1")).toEqual(
      late.map((sample, at) => (at >= 1_000 && at < 2_000 ? 0 : sample)),
    );
    await redact(12_000, 14_000);
    const left = late.map((sample, at) =>
      at < 4_000 && !(at >= 1_000 && at < 2_000) ? sample : 0,
    );
    expect(await chunk("1")).toEqual(left);
  });

  it("session audio: is the uploaded samples in one WAV file", async () => {
    const whole = tone(16_000, 40_000);
    const { sessionId } = await record([
      { sequence: 0, samples: whole.slice(0, 8_000) },
      { sequence: 1, samples: whole.slice(8_000, 39_000) },
      { sequence: 2, samples: whole.slice(39_000) },
    ]);
    const reply = await get(sessionId);
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      "Content-Type": "audio/wav",
      "Accept-Ranges": "bytes",
      "Content-Disposition": `inline; filename="session-${sessionId}.wav"`,
      "Cache-Control": "private, no-cache",
    });
    expect(reply.headers?.ETag).toMatch(/^"[\w-]+"$/);
    const file = await bytesOf(reply);
    expect(file.readUInt32LE(40)).toBe(80_000);
    expect(samplesOf(file)).toEqual(whole);
  });

  it("session audio: any range is that part of the whole", async () => {
    const { sessionId } = await record([
      { sequence: 0, samples: tone(16_000, 16_000) },
      { sequence: 1, samples: tone(16_000, 50_000, 16_000) },
    ]);
    const file = await bytesOf(await get(sessionId));
    for (const [from, to] of [
      [0, 1],
      [3, 60],
      [44, 46],
      [45, 32_044],
      [32_043, 32_046],
      [100_001, file.length],
    ] as const) {
      const reply = await get(sessionId, { headers: { range: `bytes=${from}-${to - 1}` } });
      expect(reply.status).toBe(206);
      expect(reply.headers?.["Content-Range"]).toBe(`bytes ${from}-${to - 1}/${file.length}`);
      expect(await bytesOf(reply)).toEqual(file.subarray(from, to));
    }
  });

  it("session audio: ranges beyond are 416, stale ones are answered whole, known ones 304", async () => {
    const { sessionId } = await record([{ sequence: 0, samples: tone(16_000, 1_600) }]);
    const first = await get(sessionId);
    const etag = String(first.headers?.ETag);
    const beyond = await get(sessionId, { headers: { range: "bytes=9999999-" } });
    expect(beyond).toMatchObject({
      status: 416,
      headers: { "X-Error-Code": "range_not_satisfiable", "Content-Range": "bytes */3244" },
      body: { success: false },
    });
    const range = "bytes=0-9";
    const fits = await get(sessionId, { headers: { range, "if-range": etag } });
    const stale = await get(sessionId, { headers: { range, "if-range": '"other"' } });
    expect([fits.status, stale.status]).toEqual([206, 200]);
    const known = await get(sessionId, { headers: { "if-none-match": etag } });
    expect([known.status, known.stream]).toEqual([304, undefined]);
    const head = await get(sessionId, { method: "HEAD", headers: { range } });
    expect([head.status, head.stream?.length]).toEqual([200, 3_244]);
  });

  it("session audio: holes and undecodable chunks are silence", async () => {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    const pcm = "audio/pcm;rate=16000;channels=1;encoding=s16le";
    const samples = tone(16_000, 1_600, 5);
    for (const [sequence, start] of [
      [0, 0],
      [2, 3_200],
      [3, 4_800],
    ] as const) {
      const { body } = await fixture.upload(device, sessionId, sequence, raw(samples), {
        mediaType: pcm,
      });
      await story.tell([
        { type: "ChunkPlaced", chunkId: String(body.chunk_id), sequence, start, length: 1_600 },
      ]);
    }
    await fixture.sql(
      "update chunks set media_type = 'audio/wav' where session_id = $1 and sequence = 2",
      [sessionId],
    );
    const reply = await get(sessionId);
    expect(reply.headers?.["Cache-Control"]).toBe("no-store");
    const got = samplesOf(await bytesOf(reply));
    expect(got.length).toBe(6_400);
    expect(got.slice(0, 1_600)).toEqual(samples);
    expect(got.slice(1_600, 4_800).every((sample) => sample === 0)).toBe(true);
    expect(got.slice(4_800)).toEqual(samples);
    await fixture.stop(device, { session_id: sessionId });
  });

  it("session audio: other rates come out at 16 kHz, whole or in parts, without a seam", async () => {
    const rate = 44_100;
    const whole = tone(rate, rate * 2);
    const cuts = [0, 22_050, 44_100, 66_150, 88_200];
    const { sessionId } = await record(
      cuts.slice(1).map((to, sequence) => ({
        sequence,
        rate,
        samples: whole.slice(cuts[sequence], to),
      })),
    );
    const file = await bytesOf(await get(sessionId));
    const got = samplesOf(file);
    const want = tone(16_000, 32_000);
    let worst = 0;
    for (let index = 200; index < got.length - 200; index++) {
      worst = Math.max(worst, Math.abs((got[index] ?? 0) - (want[index] ?? 0)));
    }
    expect(worst).toBeLessThanOrEqual(8);
    const reply = await get(sessionId, { headers: { range: "bytes=15999-17001" } });
    expect(await bytesOf(reply)).toEqual(file.subarray(15_999, 17_002));
  });

  it("session audio: what was redacted is silence and stays it", async () => {
    const { sessionId, story } = await record([{ sequence: 0, samples: tone(16_000, 48_000, 7) }]);
    const before = await get(sessionId);
    const loud = samplesOf(await bytesOf(before));
    await story.say("S1", 0, "one two");
    const touched = await story.say("S2", 16_000, "three four");
    await story.tell([
      {
        type: "SpanRedacted",
        redactionId: newId(),
        from: 18_000,
        to: 30_000,
        segmentIds: [touched],
        byUserId: owner.id,
      },
    ]);
    const other = await story.say("S1", 40_000, "five");
    await story.tell([
      {
        type: "SpanRedacted",
        redactionId: newId(),
        from: 0,
        to: 48_000,
        label: "S1",
        segmentIds: [other],
        byUserId: owner.id,
      },
    ]);
    await fixture.sql("delete from segments where session_id = $1", [sessionId]);
    const after = await get(sessionId);
    expect(after.headers?.ETag).not.toBe(before.headers?.ETag);
    const quiet = samplesOf(await bytesOf(after));
    const silent = (index: number) =>
      (index >= 16_000 && index < 30_000) || (index >= 40_000 && index < 44_000);
    expect(quiet).toEqual(loud.map((sample, index) => (silent(index) ? 0 : sample)));
  });

  it("session audio: a download ends soon after the right to it", async () => {
    const { sessionId } = await record([{ sequence: 0, samples: tone(16_000, 320_000) }]);
    const reply = await get(sessionId);
    const pieces = reply.stream?.open(new AbortController().signal)[Symbol.asyncIterator]();
    await pieces?.next();
    await pieces?.next();
    fixture.revalidate = () => {
      throw new AppError("invalid_token", "Disabled.");
    };
    fixture.clock.advance(2_000);
    expect(await codeOf(Promise.resolve(pieces?.next()))).toBe("invalid_token");
    fixture.revalidate = (principal) => principal;
  });

  it("session audio: redaction and deletion end a download that is under way", async () => {
    const { sessionId, story } = await record([{ sequence: 0, samples: tone(16_000, 320_000) }]);
    const open = async () => {
      const reply = await get(sessionId);
      const pieces = reply.stream?.open(new AbortController().signal)[Symbol.asyncIterator]();
      await pieces?.next();
      await pieces?.next();
      fixture.clock.advance(2_000);
      return () => codeOf(Promise.resolve(pieces?.next()));
    };
    const redacted = await open();
    const span = { redactionId: newId(), from: 0, to: 10, segmentIds: [], byUserId: owner.id };
    await story.tell([{ type: "SpanRedacted", ...span }]);
    expect(await redacted()).toBe("conflict");
    const deleted = await open();
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    expect(await deleted()).toBe("not_found");
    expect(await codeOf(get(sessionId))).toBe("not_found");
    expect(await codeOf(get(sessionId, { principal: await fixture.user("admin") }))).toBe(
      "not_found",
    );
  });

  it("session audio: owner and moderator may hear it, others not", async () => {
    const { sessionId } = await record([{ sequence: 0, samples: tone(16_000, 160) }]);
    const codeFor = (principal: UserPrincipal) => codeOf(get(sessionId, { principal }));
    const moderator = await fixture.user("moderator");
    const member = await fixture.user();
    const participant = await fixture.user();
    await fixture.join(device.workspaceId, moderator.id);
    await fixture.join(device.workspaceId, member.id);
    await fixture.sql("insert into session_members values ($1, $2, 'participant')", [
      sessionId,
      participant.id,
    ]);
    expect(await codeFor(owner)).toBe("none");
    expect(await codeFor(moderator)).toBe("none");
    expect(await codeFor(member)).toBe("forbidden");
    expect(await codeFor(participant)).toBe("forbidden");
    expect(await codeFor(await fixture.user("moderator"))).toBe("forbidden");
    expect(await codeFor(await fixture.user("admin"))).toBe("elevation_required");
    expect(await codeOf(get(newId()))).toBe("not_found");
  });

  it("session audio: a session without audio is an empty file", async () => {
    const { sessionId } = await record([]);
    const file = await bytesOf(await get(sessionId));
    expect(file.length).toBe(HEADER);
  });
});
