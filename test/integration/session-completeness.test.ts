import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { systemClock } from "../../src/base/clock.ts";
import { RecordedHeartbeat } from "../../src/live/replay-store.ts";
import { makeWav } from "../support/make-wav.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

const SECOND = 16_000;

describe("session completeness", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    ({ device, owner } = await fixture.ownDevice());
  });
  afterAll(() => fixture.close());

  async function read(sessionId: string, principal = owner) {
    const params = { session_id: sessionId };
    return jsonBody(await callRoute(fixture.routes, "getCompleteness", { principal, params }));
  }

  /** Uploads one-second chunks; returns their ids by sequence. */
  async function upload(sessionId: string, sequences: number[]): Promise<Map<number, string>> {
    const ids = new Map<number, string>();
    for (const sequence of sequences) {
      const wav = makeWav({ frames: SECOND, seed: sequence + 1 });
      const { body } = await fixture.upload(device, sessionId, sequence, wav);
      ids.set(sequence, String(body.chunk_id));
    }
    return ids;
  }

  it("session completeness: names what is missing, undecodable and late, until all is there", async () => {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    const ids = await upload(sessionId, [0, 3, 4]);
    const placed = (sequence: number) =>
      ({
        type: "ChunkPlaced",
        chunkId: ids.get(sequence) ?? "",
        sequence,
        start: sequence * SECOND,
        length: SECOND,
      }) as const;
    await story.tell([placed(0)]);
    // Noticed, and without a place of their own yet.
    expect(await read(sessionId)).toEqual({
      received_ms: 3_000,
      lag_ms: 3_000,
      complete: false,
      missing: [
        {
          start_ms: 1_000,
          end_ms: 3_000,
          reason: "missing",
          awaited: true,
          chunk_sequences: [1, 2],
        },
      ],
      times_clamped: [],
    });
    const gap = { type: "GapDeclared", length: SECOND, pin: 0, knownClusters: 0 } as const;
    await story.tell([
      { ...gap, sequence: 1, start: SECOND },
      { ...gap, sequence: 2, start: 2 * SECOND },
      placed(3),
      placed(4),
      {
        type: "ChunkFailed",
        chunkId: ids.get(4) ?? "",
        sequence: 4,
        code: "not_audio",
        message: "broken",
      },
      { type: "ChunkTranscribed", chunkId: ids.get(0) ?? "", sequence: 0 },
      { type: "ChunkTranscribed", chunkId: ids.get(3) ?? "", sequence: 3 },
    ]);
    await fixture.stop(device, { session_id: sessionId, last_chunk_sequence: 5 });
    await story.tell([{ type: "SessionStopped", lastSequence: 5 }]);
    const broken = {
      start_ms: 4_000,
      end_ms: 5_000,
      reason: "undecodable",
      chunk_sequences: [4],
    };
    const place = { start_ms: 5_000, end_ms: 6_000, reason: "missing" };
    const last = { ...place, awaited: true, chunk_sequences: [5] };
    const givenUp = { start_ms: 1_000, reason: "missing", awaited: false };
    expect(await read(sessionId)).toEqual({
      received_ms: 3_000,
      lag_ms: 0,
      complete: false,
      expected_last_sequence: 5,
      missing: [{ ...givenUp, end_ms: 3_000, chunk_sequences: [1, 2] }, broken, last],
      accepted_until: expect.stringMatching(/Z$/),
      waiting: {
        chunk_sequences: [5],
        device_heard_at: expect.stringMatching(/Z$/),
        given_up_at: expect.stringMatching(/Z$/),
        message: expect.stringMatching(/^Waiting for chunk 5, which has not come\. /),
      },
      times_clamped: [],
    });
    const came = await upload(sessionId, [2]);
    const chunkId = came.get(2) ?? "";
    const filled = { sequence: 2, start: 2 * SECOND, length: SECOND };
    await story.tell([{ type: "GapFilled", chunkId, ...filled }]);
    expect((await read(sessionId)).missing).toEqual([
      { ...givenUp, end_ms: 2_000, chunk_sequences: [1] },
      { start_ms: 2_000, end_ms: 3_000, reason: "late", chunk_sequences: [2] },
      broken,
      last,
    ]);
    // Chunks 1 and 5 are away; what was read in place of the gaps counts as heard. The late one
    // waits to be read.
    const { frame } = await new RecordedHeartbeat(fixture.pool, systemClock).read(sessionId);
    expect(frame).toMatchObject({
      audio_received: 5,
      audio_finalised: 5,
      lag_ms: 1_000,
      gaps: 2,
    });
  });

  it("session completeness: what was given up at the end is waited for again once audio of it comes", async () => {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    await fixture.stop(device, { session_id: sessionId, last_chunk_sequence: 3 });
    const gap = { type: "GapDeclared", start: 0, length: 0, pin: 0, knownClusters: 0 } as const;
    const tails = [0, 1, 2, 3].map((sequence) => ({ ...gap, sequence, tail: true as const }));
    await story.tell([{ type: "SessionStopped", lastSequence: 3 }, ...tails]);
    const missing = (awaited: boolean, sequences: number[]) => ({
      reason: "missing",
      awaited,
      chunk_sequences: sequences,
    });
    const { missing: given, waiting } = await read(sessionId);
    expect(given).toMatchObject([missing(false, [0, 1, 2, 3])]);
    expect(waiting).toBeUndefined();
    const chunkId = (await upload(sessionId, [2])).get(2) ?? "";
    const received = { chunkId, sequence: 2, frames: SECOND, sampleRate: SECOND };
    await story.tell([{ type: "ChunkReceived", ...received }]);
    const again = await read(sessionId);
    expect(again.missing).toMatchObject([
      missing(true, [0, 1]),
      { reason: "late", chunk_sequences: [2] },
      missing(true, [3]),
    ]);
    expect(again.waiting).toMatchObject({ chunk_sequences: [0, 1, 3] });
    const nominal = { ...gap, length: SECOND };
    await story.tell([
      { ...nominal, sequence: 0 },
      { ...nominal, sequence: 1, start: SECOND },
      { type: "ChunkPlaced", chunkId, sequence: 2, start: 2 * SECOND, length: SECOND },
      { ...gap, sequence: 3, start: 3 * SECOND, tail: true },
    ]);
    const lost = await read(sessionId);
    expect(lost.missing).toMatchObject([
      missing(false, [0, 1]),
      { start_ms: 2_000, end_ms: 3_000, reason: "late", chunk_sequences: [2] },
      missing(false, [3]),
    ]);
    expect(lost.waiting).toBeUndefined();
    await story.tell([{ type: "ChunkTranscribed", chunkId, sequence: 2 }]);
    expect((await read(sessionId)).missing).toMatchObject([
      missing(false, [0, 1]),
      missing(false, [3]),
    ]);
  });

  it("session completeness: sound that is longer than its place is told", async () => {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    const chunkId = (await upload(sessionId, [0])).get(0) ?? "";
    const chunk = { chunkId, sequence: 0 };
    await story.tell([
      { type: "GapFilled", ...chunk, start: SECOND, length: 10_000 },
      { type: "ChunkTranscribed", ...chunk },
    ]);
    await fixture.stop(device, { session_id: sessionId, last_chunk_sequence: 0 });
    expect(await read(sessionId)).toMatchObject({
      complete: true,
      missing: [],
      times_clamped: [{ chunk_sequence: 0, at_ms: 1_625, excess_ms: 375 }],
    });
  });

  it("sessions: one that waits after its stop says for what, until nothing is missing", async () => {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    const get = async () => {
      const params = { session_id: sessionId };
      return jsonBody(await callRoute(fixture.routes, "getSession", { principal: owner, params }));
    };
    expect((await get()).waiting).toBeUndefined();
    await fixture.stop(device, { session_id: sessionId, last_chunk_sequence: 1 });
    expect((await get()).waiting).toMatchObject({
      chunk_sequences: [0, 1],
      message: expect.stringMatching(/^Waiting for chunks 0 to 1, which have not come\./),
    });
    await fixture.sql(
      `insert into audio_pieces (session_id, sequence, piece, media_type, frames, sample_rate, data)
       values ($1, 1, 0, 'audio/pcm', 2, 16000, '\\x00000000')`,
      [sessionId],
    );
    // What was streamed has come, though it is no chunk yet.
    expect((await get()).waiting).toMatchObject({ chunk_sequences: [0] });
    await fixture.sql("delete from audio_pieces where session_id = $1", [sessionId]);
    await upload(sessionId, [0, 1]);
    const now = await get();
    expect([now.status, now.waiting]).toEqual(["processing", undefined]);
    await story.tell([{ type: "SessionStopped", lastSequence: 1 }, { type: "SessionCompleted" }]);
    expect((await get()).waiting).toBeUndefined();
  });

  it("session completeness: is complete when it ended and all was read", async () => {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    const ids = await upload(sessionId, [0, 1]);
    const chunks = [...ids].map(([sequence, chunkId]) => ({ sequence, chunkId }));
    await story.tell(
      chunks.map((chunk) => ({
        type: "ChunkPlaced" as const,
        ...chunk,
        start: chunk.sequence * SECOND,
        length: SECOND,
      })),
    );
    expect(await read(sessionId)).toEqual({
      received_ms: 2_000,
      lag_ms: 2_000,
      complete: false,
      missing: [],
      times_clamped: [],
    });
    await fixture.stop(device, { session_id: sessionId, last_chunk_sequence: 1 });
    expect((await read(sessionId)).complete).toBe(false);
    await story.tell(chunks.map((chunk) => ({ type: "ChunkTranscribed" as const, ...chunk })));
    expect(await read(sessionId)).toEqual({
      received_ms: 2_000,
      lag_ms: 0,
      complete: true,
      expected_last_sequence: 1,
      missing: [],
      times_clamped: [],
    });
  });

  it("session completeness: a session without audio is complete once it ended", async () => {
    const sessionId = await fixture.start(device);
    expect(await read(sessionId)).toEqual({
      received_ms: 0,
      lag_ms: 0,
      complete: false,
      missing: [],
      times_clamped: [],
    });
    await fixture.stop(device, { session_id: sessionId, last_chunk_sequence: -1 });
    expect(await read(sessionId)).toMatchObject({ complete: true, missing: [] });
    const stranger = await fixture.user();
    expect(await codeOf(read(sessionId, stranger))).toBe("forbidden");
  });

  it("session completeness: parts of a chunk that cannot be decoded are told, at its own rate", async () => {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    const ids = await upload(sessionId, [0, 1]);
    const chunks = [...ids].map(([sequence, chunkId]) => ({ sequence, chunkId }));
    const spans = [
      { start: 0, length: SECOND / 4 },
      { start: SECOND / 2, length: SECOND / 4 },
    ];
    await fixture.sql(
      "update chunks set broken_spans = $2::jsonb, sample_rate = 8000 where session_id = $1 and sequence = 1",
      [sessionId, JSON.stringify(spans)],
    );
    await story.tell(
      chunks.flatMap((chunk) => [
        { type: "ChunkPlaced", ...chunk, start: chunk.sequence * SECOND, length: SECOND } as const,
        { type: "ChunkTranscribed", ...chunk } as const,
      ]),
    );
    await fixture.stop(device, { session_id: sessionId, last_chunk_sequence: 1 });
    const part = { reason: "undecodable", chunk_sequences: [1] };
    expect(await read(sessionId)).toMatchObject({
      complete: false,
      missing: [
        { start_ms: 1_000, end_ms: 1_500, ...part },
        { start_ms: 2_000, end_ms: 2_500, ...part },
      ],
    });
  });

  it("session completeness: a session of which nothing could be read is not complete", async () => {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    await fixture.stop(device, { session_id: sessionId });
    const message = "What the device streamed is no audio.";
    await story.tell([{ type: "SessionFailed", message }]);
    expect(await read(sessionId)).toMatchObject({ complete: false, missing: [] });
  });

  it("chunks: keep when the device says they were recorded", async () => {
    const sessionId = await fixture.start(device);
    const wav = makeWav({ frames: SECOND });
    const at = (started_at: string, sequence: number) =>
      fixture.upload(device, sessionId, sequence, wav, {
        fields: { chunk_sequence: String(sequence), started_at },
      });
    await at("2026-01-31T10:30:00.25+01:00", 0);
    await at("", 1);
    const params = { session_id: sessionId };
    const reply = await callRoute(fixture.routes, "listChunks", { principal: owner, params });
    const chunks = jsonBody(reply).chunks as Record<string, unknown>[];
    expect(chunks.map((chunk) => chunk.started_at)).toEqual([
      "2026-01-31T09:30:00.250Z",
      undefined,
    ]);
    expect(await codeOf(at("yesterday", 2))).toBe("invalid_body");
    await fixture.stop(device, { session_id: sessionId });
  });
});
