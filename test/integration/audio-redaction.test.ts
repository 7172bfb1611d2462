import { AsyncResource } from "node:async_hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import {
  PostgresRedactedSpans,
  RecordingStore,
} from "../../src/conversations/recording/playback-store.ts";
import { AudioRedaction } from "../../src/conversations/transcript/redaction.ts";
import { PostgresRedactions } from "../../src/conversations/transcript/redaction-store.ts";
import { openChunk } from "../../workers/audio/decode.ts";
import { makeWav } from "../support/make-wav.ts";
import { PrivacyFixture, type Recorded } from "../support/privacy-fixture.ts";
import { SessionStory } from "../support/session-story.ts";
import { soundBytes } from "../support/sound-files.ts";
import { verifiedAudio } from "../support/verified-audio.ts";

const HEADER = 44;
const SECOND = 16_000;

describe("audio redaction", () => {
  let privacy: PrivacyFixture;
  let redaction: AudioRedaction;

  beforeAll(async () => {
    privacy = await PrivacyFixture.open();
    const records = new PostgresRedactions(privacy.fixture.pool);
    redaction = new AudioRedaction(records, privacy.fixture.redactionFiles, silentLog);
  });
  afterAll(() => privacy.close());

  /** A session whose chunks have their places, a second each. */
  async function placed(): Promise<Recorded> {
    const recorded = await privacy.record();
    await place(recorded, 0);
    await place(recorded, 1);
    return recorded;
  }

  async function place({ sessionId, story }: Recorded, sequence: number): Promise<void> {
    const [chunk] = await privacy.fixture.sql<{ id: string }>(
      "select id from chunks where session_id = $1 and sequence = $2",
      [sessionId, sequence],
    );
    const span = { start: sequence * SECOND, length: SECOND };
    await story.tell([{ type: "ChunkPlaced", chunkId: chunk?.id ?? "", sequence, ...span }]);
  }

  function redact({ story, owner }: Recorded, from: number, to: number): Promise<void> {
    const event = { redactionId: newId(), from, to, segmentIds: [], byUserId: owner.id };
    return story.tell([{ type: "SpanRedacted", ...event }]);
  }

  /** Samples that sound, by chunk. */
  async function sounding(sessionId: string): Promise<number[]> {
    const chunks = await privacy.fixture.sql<{ sha256: string }>(
      "select encode(sha256, 'hex') as sha256 from chunks where session_id = $1 order by sequence",
      [sessionId],
    );
    const files = await Promise.all(
      chunks.map(({ sha256 }) => privacy.fixture.blobs.read(sessionId, sha256)),
    );
    return files.map((file) => {
      let count = 0;
      for (let at = HEADER; at + 1 < file.length; at += 2)
        if (file.readInt16LE(at) !== 0) count += 1;
      return count;
    });
  }

  /** Samples that sound in what is played. */
  async function heard(sessionId: string): Promise<number> {
    const { fixture } = privacy;
    const spans = new PostgresRedactedSpans(fixture.pool);
    const { pool, blobs, sounds } = fixture;
    const files = { blobs, sounds, verified: verifiedAudio(pool, blobs) };
    const recording = await new RecordingStore(pool, files, spans).open(sessionId);
    let count = 0;
    for await (const piece of recording.read(0, recording.samples)) {
      count += piece.filter((byte) => byte !== 0).length;
    }
    return count;
  }

  it("audio: a span over two chunks becomes silence, once, and nothing else does", async () => {
    const recorded = await placed();
    const [a = 0, b = 0] = await sounding(recorded.sessionId);
    await redact(recorded, SECOND / 2, SECOND * 1.25);
    expect(await redaction.run()).toBe(2);
    const [c = 0, d = 0] = await sounding(recorded.sessionId);
    expect(c / a).toBeCloseTo(0.5, 1);
    expect(d / b).toBeCloseTo(0.75, 1);
    expect(await redaction.run()).toBe(0);
  });

  it("audio: the same upload again does not bring the sound back", async () => {
    const recorded = await placed();
    await redact(recorded, 0, 2 * SECOND);
    await redaction.run();
    const { device, sessionId } = recorded;
    const again = makeWav({ frames: SECOND, seed: 1 });
    expect((await privacy.fixture.upload(device, sessionId, 0, again)).status).toBe(200);
    // The same bytes under another number hold the same words.
    expect((await privacy.fixture.upload(device, sessionId, 2, again)).status).toBe(201);
    expect(await sounding(sessionId)).toEqual([0, 0, 0]);
  });

  it("audio: a chunk that takes its place in a redacted span later is silenced too", async () => {
    const recorded = await placed();
    await redact(recorded, 0, 3 * SECOND);
    await redaction.run();
    const { device, sessionId } = recorded;
    await privacy.fixture.upload(device, sessionId, 2, makeWav({ frames: SECOND, seed: 5 }));
    expect((await sounding(sessionId))[2]).toBeGreaterThan(0);
    await place(recorded, 2);
    expect(await redaction.run()).toBe(1);
    expect(await sounding(sessionId)).toEqual([0, 0, 0]);
  });

  it("audio: compressed sound is kept as WAV, silent where it was taken out, under its old identity", async () => {
    const { device } = await privacy.fixture.ownDevice();
    const sessionId = await privacy.fixture.start(device);
    const bytes = soundBytes("mono-44100.mp3");
    const first = await privacy.fixture.upload(device, sessionId, 0, bytes);
    const chunkId = String(first.body.chunk_id);
    const story = await SessionStory.open(privacy.fixture, sessionId);
    const place = { chunkId, sequence: 0, start: 0, length: 22_400 };
    await story.tell([{ type: "ChunkPlaced", ...place }]);
    const redacted = { redactionId: newId(), from: 0, to: 11_200, segmentIds: [] };
    await story.tell([{ type: "SpanRedacted", ...redacted, byUserId: device.ownerId }]);
    await redaction.run();
    const [chunk] = await privacy.fixture.sql<{ sha256: string; bytes: number }>(
      "select encode(sha256, 'hex') as sha256, bytes::int from chunks where session_id = $1",
      [sessionId],
    );
    const file = await privacy.fixture.blobs.read(sessionId, chunk?.sha256 ?? "");
    expect(file.subarray(0, 4).toString()).toBe("RIFF");
    expect(chunk?.bytes).toBe(file.length);
    const samples = new Int16Array(
      file.buffer.slice(file.byteOffset + HEADER, file.byteOffset + file.length),
    );
    const loud = (from: number, to: number) =>
      samples
        .subarray(from * 44_100, to * 44_100)
        .reduce((most, s) => Math.max(most, Math.abs(s)), 0);
    expect([loud(0, 0.7), loud(0.71, 1.4) > 5_000]).toEqual([0, true]);
    const again = await privacy.fixture.upload(device, sessionId, 0, bytes);
    expect([again.status, again.body.chunk_id]).toEqual([200, chunkId]);
    expect(openChunk("audio/mpeg", file).sampleRate).toBe(44_100);
  });

  it("audio: a chunk that takes its place while a span is silenced is heard nowhere", async () => {
    const recorded = await placed();
    const { device, sessionId } = recorded;
    await privacy.fixture.upload(device, sessionId, 2, makeWav({ frames: SECOND, seed: 5 }));
    await redact(recorded, 0, Number.MAX_SAFE_INTEGER);
    const read: string[] = [];
    let isFirst = true;
    // Somebody else's, who is not within the transaction of the one that silences.
    const actor = new AsyncResource("actor");
    const between = new AudioRedaction(
      new PostgresRedactions(privacy.fixture.pool),
      {
        ...privacy.fixture.redactionFiles,
        read: async (id, sha256) => {
          read.push(sha256);
          if (isFirst) await actor.runInAsyncScope(() => place(recorded, 2));
          isFirst = false;
          return privacy.fixture.blobs.read(id, sha256);
        },
      },
      silentLog,
    );
    await between.run();
    expect(await heard(sessionId)).toBe(0);
    await between.run();
    expect(await sounding(sessionId)).toEqual([0, 0, 0]);
    // Of the earlier ones none was read again.
    expect(new Set(read).size).toBe(read.length);
    expect(await between.run()).toBe(0);
  });

  it("audio: sound that is longer than its place is silent as far as the place's end is", async () => {
    const recorded = await placed();
    const { device, sessionId, story } = recorded;
    await privacy.fixture.upload(device, sessionId, 2, makeWav({ frames: 2 * SECOND, seed: 6 }));
    const [chunk] = await privacy.fixture.sql<{ id: string }>(
      "select id from chunks where session_id = $1 and sequence = 2",
      [sessionId],
    );
    const span = { start: 2 * SECOND, length: SECOND };
    await story.tell([{ type: "ChunkPlaced", chunkId: chunk?.id ?? "", sequence: 2, ...span }]);
    await redact(recorded, 2 * SECOND, 3 * SECOND);
    await redaction.run();
    expect((await sounding(sessionId))[2]).toBe(0);
  });

  it("audio: two at once leave both spans silent", async () => {
    const recorded = await placed();
    await redact(recorded, 0, SECOND);
    await redact(recorded, SECOND, 2 * SECOND);
    await Promise.all([redaction.run(), redaction.run(), redaction.run()]);
    await redaction.run();
    expect(await sounding(recorded.sessionId)).toEqual([0, 0]);
  });
});
