import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDeferred } from "../../src/base/deferred.ts";
import { AppError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import type { FragmentLogs } from "../../src/conversations/recording/audio-files/fragment-logs.ts";
import {
  ChunkAssembler,
  type LiveAudio,
} from "../../src/conversations/recording/chunk-assembler.ts";
import { PostgresOpenChunks } from "../../src/conversations/recording/open-chunks-store.ts";
import type { StreamSettings } from "../../src/conversations/recording/stream-records.ts";
import { AudioStreams } from "../../src/conversations/recording/stream-routes.ts";
import { PostgresAudioStreams } from "../../src/conversations/recording/stream-store.ts";
import { SessionAudio } from "../../src/recognition/session-audio-store.ts";
import { fragmentLogs } from "../support/fragment-logs.ts";
import { beginningOf } from "../support/opening-place.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { until } from "../support/until.ts";
import { audioMending, NO_MENDING, verifiedAudio } from "../support/verified-audio.ts";

const SETTINGS: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 1,
  framing: "packet",
  interim: true,
};
const SECOND = 32_000;

/** Bytes that name their own place. */
function audio(from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 4) bytes.writeUInt32BE(from + at, at);
  return bytes;
}

const NO_EVENTS = { onStored: () => {}, onEnd: () => {} };

describe("audio streams", () => {
  let fixture: SessionFixture;
  let logs: FragmentLogs;
  let streams: AudioStreams;
  let assembler: ChunkAssembler;
  let told: LiveAudio[];
  let checkBacklog = (): void => {};

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    logs = fragmentLogs(fixture.blobs);
    const notifier = { notify: () => {} };
    assembler = new ChunkAssembler({
      openChunks: new PostgresOpenChunks(fixture.pool),
      blobs: fixture.blobs,
      logs,
      notifier,
      mending: audioMending(fixture.pool, fixture.blobs),
      runtime: systemRuntime,
      log: silentLog,
    });
    told = [];
    streams = new AudioStreams({
      store: new PostgresAudioStreams(fixture.pool),
      logs,
      assembler,
      live: { publish: (_id, audio) => told.push(audio) },
      backlog: { check: () => checkBacklog() },
      notices: { taken: () => {}, onTaken: () => () => {} },
      notifier,
      runtime: systemRuntime,
      log: silentLog,
    });
  });
  afterAll(() => fixture.close());

  async function open(sessionId: string) {
    const heard: { stored: number; error?: AppError | undefined } = { stored: 0 };
    const opened = await streams.open({
      sessionId,
      settings: SETTINGS,
      events: {
        onStored: (offset) => {
          heard.stored = offset;
        },
        onEnd: (error) => {
          heard.error = error;
        },
      },
    });
    return { ...opened, heard };
  }

  async function newSession(): Promise<string> {
    const { device } = await fixture.ownDevice();
    return fixture.start(device);
  }

  const chunksOf = (sessionId: string) =>
    fixture.sql(
      `select sequence, bytes::int, frames::int, media_type, encode(sha256, 'hex') as sha256
       from chunks where session_id = $1 order by sequence`,
      [sessionId],
    );

  async function bytesOf(sessionId: string): Promise<Buffer> {
    const chunks = await chunksOf(sessionId);
    return Buffer.concat(
      await Promise.all(chunks.map(({ sha256 }) => fixture.blobs.read(sessionId, String(sha256)))),
    );
  }

  it("stream: becomes chunks of about ten seconds, byte for byte", async () => {
    const sessionId = await newSession();
    const { stream, offset, heard } = await open(sessionId);
    expect(offset).toBe(0);
    for (let second = 0; second < 25; second += 1) stream.push(audio(second * SECOND, SECOND));
    await stream.close();
    expect(heard.stored).toBe(25 * SECOND);
    expect(heard.error).toBeUndefined();
    const bytes = await bytesOf(sessionId);
    expect(bytes.equals(audio(0, 25 * SECOND))).toBe(true);
    const chunks = await chunksOf(sessionId);
    expect(chunks.map(({ sequence }) => sequence)).toEqual(chunks.map((_, index) => index));
    expect(chunks.every(({ frames }) => Number(frames) <= 19 * 16_000)).toBe(true);
    const commands = await fixture.sql(
      "select command->>'type' as type from outbox where session_id = $1 order by created_at",
      [sessionId],
    );
    expect(commands.filter(({ type }) => type === "ChunkStored")).toHaveLength(chunks.length);
    expect(
      await fixture.sql("select 1 from audio_pieces where session_id = $1", [sessionId]),
    ).toEqual([]);
  });

  it("durable: what is acknowledged is in the database, what is told to actors too", async () => {
    const sessionId = await newSession();
    told.length = 0;
    const { stream, heard } = await open(sessionId);
    stream.push(audio(0, 1_000));
    await until(() => heard.stored === 1_000, "the acknowledgement");
    stream.push(audio(1_000, 2_000));
    await until(() => heard.stored === 3_000, "the acknowledgement");
    const source = new SessionAudio(fixture.pool, verifiedAudio(fixture.pool, fixture.blobs));
    const fragments = await source.fragments(sessionId, 0, 0, 10);
    expect(Buffer.concat(fragments.map(({ data }) => data)).equals(audio(0, 3_000))).toBe(true);
    expect(fragments.map(({ startByte, startFrame }) => [startByte, startFrame])).toEqual([
      [0, 0],
      [1_000, 500],
    ]);
    const rest = await source.fragments(sessionId, 0, 1, 10);
    expect(rest).toEqual(fragments.slice(1));
    expect(told).toEqual(fragments.map((fragment) => ({ ...fragment, interim: true })));
    await stream.close();
  });

  it("newer connection: the older one writes nothing more, the newer goes on after what is stored", async () => {
    const sessionId = await newSession();
    const older = await open(sessionId);
    older.stream.push(audio(0, 4_000));
    await until(() => older.heard.stored === 4_000, "the acknowledgement");
    const newer = await open(sessionId);
    expect(newer.offset).toBe(4_000);
    expect(older.heard.error?.code).toBe("superseded");
    older.stream.push(audio(4_000, 4_000));
    newer.stream.push(audio(4_000, 4_000));
    await newer.stream.close();
    await assembler.assembleSession(sessionId);
    expect((await bytesOf(sessionId)).equals(audio(0, 8_000))).toBe(true);
  });

  it("newer connection: what the older one left is assembled, however late, and nothing else", async () => {
    const openChunks = new PostgresOpenChunks(fixture.pool);
    const list = openChunks.of.bind(openChunks);
    const gate = createDeferred<void>();
    openChunks.of = async (sessionId) => {
      await gate.promise;
      return list(sessionId);
    };
    const notifier = { notify: () => {} };
    const late = new AudioStreams({
      store: new PostgresAudioStreams(fixture.pool),
      logs,
      assembler: new ChunkAssembler({
        openChunks,
        blobs: fixture.blobs,
        logs,
        notifier,
        mending: NO_MENDING,
        runtime: systemRuntime,
        log: silentLog,
      }),
      live: { publish: () => {} },
      backlog: { check: () => {} },
      notices: { taken: () => {}, onTaken: () => () => {} },
      notifier,
      runtime: systemRuntime,
      log: silentLog,
    });
    const sessionId = await newSession();
    const older = await late.open({ sessionId, settings: SETTINGS, events: NO_EVENTS });
    older.stream.push(audio(0, SECOND));
    await until(() => older.stream.offset === SECOND, "the first second");
    const newer = await late.open({ sessionId, settings: SETTINGS, events: NO_EVENTS });
    newer.stream.push(audio(SECOND, SECOND));
    await until(() => newer.stream.offset === 2 * SECOND, "the next second");
    gate.resolve();
    await until(async () => (await chunksOf(sessionId)).length > 0, "what was left");
    newer.stream.push(audio(2 * SECOND, SECOND));
    await newer.stream.close();
    expect(newer.stream.offset).toBe(3 * SECOND);
    const sizes = (await chunksOf(sessionId)).map(({ bytes }) => bytes);
    expect(sizes).toEqual([SECOND, 2 * SECOND]);
  });

  it("time: a session takes a day of sound besides what passes, less what it holds", async () => {
    const store = new PostgresAudioStreams(fixture.pool);
    const sessionId = await newSession();
    const day = 24 * 3_600;
    expect((await store.take(sessionId, SETTINGS)).mostSeconds).toBeCloseTo(day, -2);
    const opened = await open(sessionId);
    opened.stream.push(audio(0, 20 * SECOND));
    await opened.stream.close();
    await fixture.sql(
      "update sessions set started_at = started_at - interval '1 hour' where id = $1",
      [sessionId],
    );
    await fixture.sql("update chunks set duration_seconds = 7200 where session_id = $1", [
      sessionId,
    ]);
    const [chunks] = await fixture.sql<{ count: number }>(
      "select count(*)::int as count from chunks where session_id = $1",
      [sessionId],
    );
    const left = day + 3_600 - 7_200 * (chunks?.count ?? 0);
    expect((await store.take(sessionId)).mostSeconds).toBeCloseTo(left, -2);
  });

  it("fencing: a holder that was replaced in the store is refused there", async () => {
    const sessionId = await newSession();
    const store = new PostgresAudioStreams(fixture.pool);
    const old = await store.take(sessionId, SETTINGS);
    const fragment = {
      format: { mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le", sampleRate: 16_000 },
      frames: 2,
      data: audio(0, 4),
      streamBytes: 4,
    };
    const { sequence } = await store.begin(old, old.sequence, fragment);
    await store.append(old, { ...fragment, sequence, index: 1 });
    // The answer of the first try was lost: the same again changes nothing.
    await store.append(old, { ...fragment, sequence, index: 1 });
    expect((await store.begin(old, undefined, fragment).catch((error) => error)).code).toBe(
      "stale_epoch",
    );
    const fresh = await store.take(sessionId);
    expect(fresh).toMatchObject({ offset: 8, sequence, settings: SETTINGS });
    const late = store.append(old, { ...fragment, sequence, index: 2 });
    await expect(late).rejects.toMatchObject({ code: "superseded" });
    const begin = store.begin(old, sequence, fragment);
    await expect(begin).rejects.toMatchObject({ code: "superseded" });
  });

  it("groups: a session that somebody holds keeps no other stream waiting", async () => {
    const [held, free] = [await newSession(), await newSession()];
    const [stuck, running] = [await open(held), await open(free)];
    for (const { stream, heard } of [stuck, running]) {
      stream.push(audio(0, 1_000));
      await until(() => heard.stored === 1_000, "the first fragment");
    }
    const letGo = await fixture.hold(held);
    stuck.stream.push(audio(1_000, 1_000));
    for (let at = 1_000; at < 5_000; at += 1_000) {
      running.stream.push(audio(at, 1_000));
      await until(() => running.heard.stored === at + 1_000, "the acknowledgement of the other");
    }
    expect(stuck.heard.stored).toBe(1_000);
    await letGo();
    await until(() => stuck.heard.stored === 2_000, "what was skipped to go again by itself");
    await Promise.all([stuck.stream.close(), running.stream.close()]);
    expect((await bytesOf(held)).equals(audio(0, 2_000))).toBe(true);
  });

  it("groups: a newer connection's fragment does not count as the older one's of the same number", async () => {
    const sessionId = await newSession();
    const store = new PostgresAudioStreams(fixture.pool);
    const old = await store.take(sessionId, SETTINGS);
    const fragment = {
      format: { mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le", sampleRate: 16_000 },
      frames: 500,
      data: audio(0, 1_000),
      streamBytes: 1_000,
    };
    const { sequence } = await store.begin(old, undefined, fragment);
    const fresh = await store.take(sessionId);
    const next = { ...fragment, sequence, index: 1 };
    // Both in one group.
    const [older, newer] = await Promise.allSettled([
      store.append(old, { ...next, data: audio(8_000, 1_000) }),
      store.append(fresh, next),
    ]);
    expect(newer.status).toBe("fulfilled");
    expect(older).toMatchObject({ status: "rejected", reason: { code: "superseded" } });
  });

  it("stop: what was acknowledged belongs to the session, what comes later is refused", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    const { stream, heard } = await open(sessionId);
    stream.push(audio(0, SECOND));
    await until(() => heard.stored === SECOND, "the acknowledgement");
    await fixture.stop(device, { session_id: sessionId, last_chunk_sequence: -1 });
    const [stop] = await fixture.sql(
      "select command from outbox where session_id = $1 and command->>'type' = 'Stop'",
      [sessionId],
    );
    expect(stop?.command).toMatchObject({ lastSequence: 0 });
    stream.push(audio(SECOND, SECOND));
    await until(() => heard.error !== undefined, "the refusal");
    expect(heard.error?.code).toBe("session_ended");
    await stream.close();
    await assembler.assembleSession(sessionId);
    expect((await bytesOf(sessionId)).equals(audio(0, SECOND))).toBe(true);
  });

  it("abandoned: fragments whose connection died become a chunk", async () => {
    const sessionId = await newSession();
    const store = new PostgresAudioStreams(fixture.pool);
    const hold = await store.take(sessionId, SETTINGS);
    const fragment = {
      format: { mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le", sampleRate: 16_000 },
      frames: 500,
      data: audio(0, 1_000),
      streamBytes: 1_000,
    };
    const { sequence } = await store.begin(hold, undefined, fragment);
    expect(await assembler.assembleAbandoned(60_000)).toBe(0);
    expect(await assembler.assembleAbandoned(0)).toBeGreaterThan(0);
    expect((await bytesOf(sessionId)).equals(audio(0, 1_000))).toBe(true);
    // Should that connection live after all, it is sent away and comes back.
    const late = store.append(hold, { ...fragment, sequence, index: 1 });
    await expect(late).rejects.toMatchObject({ code: "stale_epoch" });
  });

  it("deletion: takes what was streamed along", async () => {
    const { device, owner } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    const { stream, heard } = await open(sessionId);
    stream.push(audio(0, SECOND));
    await until(() => heard.stored === SECOND, "the acknowledgement");
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    expect(owner.id).toBeTruthy();
    await assembler.assembleSession(sessionId);
    expect(await chunksOf(sessionId)).toEqual([]);
    stream.push(audio(SECOND, SECOND));
    await until(() => heard.error !== undefined, "the refusal");
    expect(heard.error?.code).toBe("session_deleted");
  });

  it("encoding: another one is refused once bytes are counted, and who streams goes on", async () => {
    const sessionId = await newSession();
    const other = { ...SETTINGS, sampleRate: 8_000 };
    // Nothing was counted yet.
    await streams.open({ sessionId, settings: other, events: NO_EVENTS });
    const { stream, heard } = await open(sessionId);
    stream.push(audio(0, SECOND));
    await until(() => heard.stored === SECOND, "the acknowledgement");
    const changed = [
      other,
      { ...SETTINGS, channels: 2 },
      { ...SETTINGS, encoding: "mulaw" },
      { ...SETTINGS, encoding: "opus" },
    ] as const;
    for (const settings of changed) {
      const refused = streams.open({ sessionId, settings, events: NO_EVENTS });
      await expect(refused).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringMatching(/^This session's stream is pcm_s16le at 16000 Hz/),
      });
    }
    stream.push(audio(SECOND, SECOND));
    await until(() => heard.stored === 2 * SECOND, "the next acknowledgement");
    expect(heard.error).toBeUndefined();
    const resumed = await streams.open({ sessionId, events: NO_EVENTS });
    expect(resumed).toMatchObject({ settings: SETTINGS, offset: 2 * SECOND });
    await resumed.stream.close();
    await assembler.assembleSession(sessionId);
    expect((await bytesOf(sessionId)).equals(audio(0, 2 * SECOND))).toBe(true);
  });

  it("hypotheses: what the newest connection wants is kept with the session", async () => {
    const sessionId = await newSession();
    const source = new SessionAudio(fixture.pool, verifiedAudio(fixture.pool, fixture.blobs));
    expect((await source.opening(beginningOf(sessionId))).interim).toBe(true);
    const settings = { ...SETTINGS, interim: false };
    const { stream } = await streams.open({ sessionId, settings, events: NO_EVENTS });
    stream.push(audio(0, 1_000));
    await until(() => stream.offset === 1_000, "the fragment");
    expect((await source.opening(beginningOf(sessionId))).interim).toBe(false);
    const fragments = await source.fragments(sessionId, 0, 0, 10);
    expect(fragments.map(({ interim }) => interim)).toEqual([false]);
    await stream.close();
    const resumed = await streams.open({ sessionId, events: NO_EVENTS });
    expect(resumed.settings.interim).toBe(false);
    const again = await streams.open({ sessionId, settings: SETTINGS, events: NO_EVENTS });
    expect((await source.opening(beginningOf(sessionId))).interim).toBe(true);
    await again.stream.close();
  });

  it("broken packets: what cannot be decoded is kept with the chunk, and its command says so", async () => {
    const settings: StreamSettings = { ...SETTINGS, encoding: "opus" };
    const good = Uint8Array.of(0xf8, 0xff, 0xfe);
    const bad = Uint8Array.of(0x0b, 0xff, 1);
    async function streamed(packets: readonly Uint8Array[]) {
      const sessionId = await newSession();
      const { stream } = await streams.open({ sessionId, settings, events: NO_EVENTS });
      for (const packet of packets) stream.push(packet);
      await stream.close();
      const [chunk] = await fixture.sql(
        "select frames::int, broken_spans from chunks where session_id = $1",
        [sessionId],
      );
      const [stored] = await fixture.sql(
        "select command from outbox where session_id = $1 and command->>'type' = 'ChunkStored'",
        [sessionId],
      );
      return { chunk, command: stored?.command };
    }
    const some = await streamed([good, good, bad, good, good]);
    expect(some.chunk).toEqual({ frames: 1_600, broken_spans: [{ start: 640, length: 320 }] });
    expect(some.command).not.toHaveProperty("unreadable");
    const most = await streamed([good, bad, bad, bad]);
    expect(most.command).toMatchObject({
      unreadable: "Only 1 of the chunk's 4 packets can be decoded: it holds no Opus audio.",
    });
  });

  it("damaged log: of a chunk is stored what can be read, and its command says that the rest was lost", async () => {
    const left = async (damage: (path: string) => void) => {
      const sessionId = await newSession();
      const { stream, heard } = await open(sessionId);
      for (const at of [0, SECOND]) {
        stream.push(audio(at, SECOND));
        await until(() => heard.stored === at + SECOND, "the acknowledgement");
      }
      const [log] = await fixture.blobs.logs(sessionId);
      damage(join(fixture.folder, sessionId, `${log?.log}.log`));
      await stream.close();
      const [stored] = await fixture.sql(
        "select command from outbox where session_id = $1 and command->>'type' = 'ChunkStored'",
        [sessionId],
      );
      return { bytes: (await bytesOf(sessionId)).byteLength, command: stored?.command };
    };
    const cut = await left((path) => truncateSync(path, SECOND + 100));
    expect(cut).toMatchObject({ bytes: SECOND, command: { frames: SECOND / 2 } });
    const gone = await left((path) => rmSync(path));
    expect(gone).toMatchObject({ bytes: 0, command: { frames: 0 } });
    for (const { command } of [cut, gone]) {
      expect(command).toMatchObject({
        unreadable: "The end of the chunk was lost in the store of the audio.",
      });
    }
  });

  it("lost audio: what the device no longer has becomes silence", async () => {
    const sessionId = await newSession();
    const first = await open(sessionId);
    first.stream.push(audio(0, SECOND));
    await first.stream.close();
    const { stream, offset } = await streams.open({
      sessionId,
      oldest: 2 * SECOND,
      events: NO_EVENTS,
    });
    expect(offset).toBe(2 * SECOND);
    stream.push(audio(2 * SECOND, SECOND));
    await stream.close();
    const bytes = await bytesOf(sessionId);
    expect(bytes.subarray(0, SECOND).equals(audio(0, SECOND))).toBe(true);
    expect(bytes.subarray(SECOND, 2 * SECOND).equals(Buffer.alloc(SECOND))).toBe(true);
    expect(bytes.subarray(2 * SECOND).equals(audio(2 * SECOND, SECOND))).toBe(true);
  });

  it("lost audio: what comes after an odd number of bytes begins with a whole sample", async () => {
    const sessionId = await newSession();
    const { stream, offset } = await streams.open({
      sessionId,
      settings: SETTINGS,
      oldest: SECOND + 1,
      events: NO_EVENTS,
    });
    expect(offset).toBe(SECOND + 2);
    stream.push(audio(0, SECOND));
    await stream.close();
    expect((await bytesOf(sessionId)).subarray(offset).equals(audio(0, SECOND))).toBe(true);
  });

  it("lost audio: a loss that is too long is refused, and who streams goes on", async () => {
    const sessionId = await newSession();
    const { stream, heard } = await open(sessionId);
    stream.push(audio(0, SECOND));
    await until(() => heard.stored === SECOND, "the acknowledgement");
    const late = streams.open({ sessionId, oldest: 200 * SECOND, events: NO_EVENTS });
    await expect(late).rejects.toMatchObject({ code: "conflict" });
    stream.push(audio(SECOND, SECOND));
    await until(() => heard.stored === 2 * SECOND, "the next acknowledgement");
    expect(heard.error).toBeUndefined();
    await stream.close();
    expect((await bytesOf(sessionId)).equals(audio(0, 2 * SECOND))).toBe(true);
  });

  it("backlog: while sessions cannot keep up no chunk is begun; nothing of it is lost", async () => {
    const sessionId = await newSession();
    const { stream, heard } = await open(sessionId);
    let asked = 0;
    checkBacklog = () => {
      asked += 1;
      throw new AppError("overloaded", "Please wait.");
    };
    const refused = streams.open({ sessionId: await newSession(), events: NO_EVENTS });
    await expect(refused).rejects.toMatchObject({ code: "overloaded" });
    stream.push(audio(0, SECOND));
    await until(() => asked > 2, "the wait");
    expect(heard.stored).toBe(0);
    checkBacklog = () => {};
    await until(() => heard.stored === SECOND, "the acknowledgement");
    await stream.close();
    expect((await bytesOf(sessionId)).equals(audio(0, SECOND))).toBe(true);
  });
});
