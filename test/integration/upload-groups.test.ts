import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal } from "../../src/access/principal.ts";
import { isAppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import {
  type NewChunk,
  PostgresChunkStore,
} from "../../src/conversations/recording/chunk-store.ts";
import { PostgresAudioStreams } from "../../src/conversations/recording/stream-store.ts";
import { makeWav } from "../support/make-wav.ts";
import { HOUSE_CONNECTIONS, SessionFixture } from "../support/session-fixture.ts";

const sound = (seed: number): Buffer => makeWav({ frames: 1_600, seed });

function newChunk(sessionId: string, sequence: number, audio: Buffer): NewChunk {
  return {
    id: newId(),
    sessionId,
    sequence,
    mediaType: "audio/wav",
    filename: "a.wav",
    bytes: audio.length,
    sha256: createHash("sha256").update(audio).digest("hex"),
    frames: 1_600,
    sampleRate: 16_000,
    durationSeconds: 0.1,
    recordedAt: Date.UTC(2026, 0, 1),
  };
}

describe("uploads that come together", () => {
  let fixture: SessionFixture;
  let store: PostgresChunkStore;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    store = new PostgresChunkStore(fixture.pool);
  });
  afterAll(() => fixture.close());

  async function recording(): Promise<{ device: DevicePrincipal; sessionId: string }> {
    const { device } = await fixture.ownDevice();
    return { device, sessionId: await fixture.start(device) };
  }

  /** `created`, `known`, or the code of the refusal. */
  async function outcome(chunk: NewChunk): Promise<string> {
    try {
      return (await store.store(chunk)).created ? "created" : "known";
    } catch (error) {
      if (isAppError(error)) return error.code;
      throw error;
    }
  }

  async function stored(sessionId: string): Promise<number[]> {
    const rows = await fixture.sql(
      `select c.sequence from chunks c join outbox o
       on o.session_id = c.session_id and o.command->>'chunkId' = c.id::text
       where c.session_id = $1 order by c.sequence`,
      [sessionId],
    );
    return rows.map(({ sequence }) => sequence);
  }

  it("upload groups: each hears what became of its own, and one command goes with each row", async () => {
    const [one, two, ended, deleted, streamed] = await Promise.all(
      Array.from({ length: 5 }, recording),
    );
    if (!one || !two || !ended || !deleted || !streamed) throw new Error("no session");
    await store.store(newChunk(ended.sessionId, 0, sound(1)));
    await fixture.stop(ended.device);
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [deleted.sessionId]);
    const streams = new PostgresAudioStreams(fixture.pool);
    const settings = {
      encoding: "pcm_s16le",
      sampleRate: 16_000,
      channels: 1,
      framing: "packet",
      interim: true,
    } as const;
    const { epoch } = await streams.take(streamed.sessionId, settings);
    const format = {
      mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le",
      sampleRate: 16_000,
    };
    const fragment = { format, frames: 160, data: Buffer.alloc(320), streamBytes: 320 };
    await streams.begin({ sessionId: streamed.sessionId, epoch }, undefined, fragment);

    const outcomes = await Promise.all(
      [
        newChunk(one.sessionId, 0, sound(1)),
        newChunk(one.sessionId, 1, sound(2)),
        newChunk(two.sessionId, 5, sound(1)),
        newChunk(two.sessionId, 5, sound(1)),
        newChunk(two.sessionId, 5, sound(3)),
        newChunk(two.sessionId, 90_000, sound(4)),
        newChunk(ended.sessionId, 0, sound(1)),
        newChunk(ended.sessionId, 1, sound(2)),
        newChunk(deleted.sessionId, 0, sound(1)),
        newChunk(streamed.sessionId, 0, sound(1)),
        newChunk(streamed.sessionId, 1, sound(1)),
        newChunk(newId(), 0, sound(1)),
      ].map(outcome),
    );
    expect(outcomes).toEqual([
      "created",
      "created",
      "created",
      "known",
      "chunk_conflict",
      "invalid_body",
      "known",
      "session_ended",
      "session_deleted",
      "chunk_conflict",
      "created",
      "not_found",
    ]);
    expect(await stored(one.sessionId)).toEqual([0, 1]);
    expect(await stored(two.sessionId)).toEqual([5]);
    expect(await stored(streamed.sessionId)).toEqual([1]);
    expect(await stored(deleted.sessionId)).toEqual([]);
  });

  it("upload groups: a session that somebody holds keeps no other waiting", async () => {
    const [held, free] = await Promise.all([recording(), recording()]);
    const letGo = await fixture.hold(held.sessionId);
    const waiting = Array.from({ length: 2 * HOUSE_CONNECTIONS }, (_, sequence) =>
      outcome(newChunk(held.sessionId, sequence, sound(sequence))),
    );
    // Also of those that wait there are more than connections.
    expect(await outcome(newChunk(free.sessionId, 0, sound(1)))).toBe("created");
    expect(await outcome(newChunk(free.sessionId, 1, sound(1)))).toBe("created");
    expect(await stored(held.sessionId)).toEqual([]);
    await letGo();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["created"]));
    expect(await stored(held.sessionId)).toHaveLength(2 * HOUSE_CONNECTIONS);
  });

  it("upload groups: one that cannot be stored keeps no other out", async () => {
    const { sessionId } = await recording();
    const broken = { ...newChunk(sessionId, 0, sound(1)), filename: "a\u0000b" };
    const [bad, good] = await Promise.allSettled([
      store.store(broken),
      store.store(newChunk(sessionId, 1, sound(2))),
    ]);
    expect([bad?.status, good?.status]).toEqual(["rejected", "fulfilled"]);
    expect(await stored(sessionId)).toEqual([1]);
  });

  it("upload groups: a stop that comes between is seen", async () => {
    const sessions = await Promise.all(Array.from({ length: 8 }, recording));
    const answers = await Promise.all(
      sessions.flatMap(({ device, sessionId }) => [
        ...Array.from({ length: 6 }, (_, sequence) =>
          outcome(newChunk(sessionId, sequence, sound(sequence))),
        ),
        fixture.stop(device).then(() => "stopped"),
      ]),
    );
    expect(new Set(answers)).not.toContain("internal");
    for (const [index, { sessionId }] of sessions.entries()) {
      const of = answers.slice(index * 7, index * 7 + 6);
      const [session] = await fixture.sql(
        "select last_chunk_sequence as last from sessions where id = $1",
        [sessionId],
      );
      const rows = await stored(sessionId);
      expect(rows).toEqual(of.flatMap((each, sequence) => (each === "created" ? [sequence] : [])));
      // Without a word from the device the session ends with what was there.
      if (session?.last !== null) expect(Math.max(-1, ...rows)).toBeLessThanOrEqual(session?.last);
    }
  });
});
