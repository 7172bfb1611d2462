import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal } from "../../src/access/principal.ts";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { ChunkAssembler } from "../../src/conversations/recording/chunk-assembler.ts";
import { PostgresChunkStore } from "../../src/conversations/recording/chunk-store.ts";
import { PostgresDeviceSessions } from "../../src/conversations/recording/device-sessions-store.ts";
import { PostgresOpenChunks } from "../../src/conversations/recording/open-chunks-store.ts";
import { SessionStreams } from "../../src/conversations/recording/session-streams.ts";
import { AudioStreams } from "../../src/conversations/recording/stream-routes.ts";
import {
  PostgresAudioStreams,
  PostgresStreamSigns,
} from "../../src/conversations/recording/stream-store.ts";
import { DeviceStreams } from "../../src/conversations/recording/streams.ts";
import { uploadAudioRoutes } from "../../src/conversations/recording/upload.ts";
import { PostgresDeviceSigns } from "../../src/conversations/sessions/device-signs-store.ts";
import { SessionStore } from "../../src/conversations/sessions/store.ts";
import { OTHER_TABLES } from "../../src/roles/other-tables.ts";
import { HeartbeatWriter } from "../../src/tenancy/devices/heartbeats.ts";
import { PostgresHeartbeats } from "../../src/tenancy/devices/heartbeats-store.ts";
import { WorkshopStore } from "../../src/tenancy/workspaces/workshops-store.ts";
import { fragmentLogs } from "../support/fragment-logs.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { KeptConnection } from "../support/kept-connection.ts";
import { makeWav } from "../support/make-wav.ts";
import { codeOf } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { until } from "../support/until.ts";
import { NO_MENDING } from "../support/verified-audio.ts";
import { Viewer } from "../support/viewer.ts";

const HOUR = 3_600_000;

describe("signs of life", () => {
  let fixture: SessionFixture;
  let signs: PostgresDeviceSigns;
  let device: DevicePrincipal;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    signs = new PostgresDeviceSigns(fixture.pool);
    ({ device } = await fixture.ownDevice());
    sessionId = await fixture.start(device);
  });
  afterAll(() => fixture?.close());

  /** Everything that was heard so far becomes an hour old. */
  async function hourPasses(): Promise<void> {
    const session = [sessionId];
    const hour = "- interval '1 hour'";
    await fixture.sql(
      `update sessions set started_at = started_at ${hour},
      stopped_at = stopped_at ${hour} where id = $1`,
      session,
    );
    await fixture.sql(
      `update chunks set uploaded_at = uploaded_at ${hour} where session_id = $1`,
      session,
    );
    await fixture.sql(
      `update audio_streams set touched_at = touched_at ${hour} where session_id = $1`,
      session,
    );
    await fixture.sql(`update devices set last_seen_at = last_seen_at ${hour} where id = $1`, [
      device.id,
    ]);
    expect((await signs.of(sessionId)).heardAgo).toBeGreaterThanOrEqual(HOUR);
  }

  async function heardNow(): Promise<boolean> {
    return (await signs.of(sessionId)).heardAgo < HOUR / 2;
  }

  function heartbeats(): HeartbeatWriter {
    const store = new PostgresHeartbeats(fixture.pool);
    return new HeartbeatWriter({ store, clock: systemClock, log: silentLog });
  }

  it("signs of life: the start, a chunk and a stop each count, by the database's clock", async () => {
    expect(await heardNow()).toBe(true);
    expect((await signs.of(sessionId)).chunkAgo).toBeUndefined();
    await hourPasses();
    await fixture.upload(device, sessionId, 0, makeWav({ frames: 16_000 }));
    const { heardAgo, chunkAgo } = await signs.of(sessionId);
    expect(heardAgo).toBe(chunkAgo);
    expect(chunkAgo).toBeLessThan(HOUR / 2);
    await hourPasses();
    expect((await signs.of(sessionId)).chunkAgo).toBeGreaterThanOrEqual(HOUR);
    await fixture.sql("update sessions set stopped_at = now() where id = $1", [sessionId]);
    expect(await heardNow()).toBe(true);
    // Nobody was heard when the service stopped it.
    await fixture.sql("update sessions set stop_reason = 'device_silent' where id = $1", [
      sessionId,
    ]);
    expect(await heardNow()).toBe(false);
    await hourPasses();
    expect(await codeOf(signs.of(newId()))).toBe("not_found");
  });

  it("signs of life: a heartbeat counts, and what another clock put into the future was just now", async () => {
    await hourPasses();
    const beats = heartbeats();
    await beats.beat(device, {});
    await beats.flush();
    expect(await heardNow()).toBe(true);
    await beats.stop();
    const ahead = "update devices set last_seen_at = now() + interval '1 hour' where id = $1";
    await fixture.sql(ahead, [device.id]);
    expect((await signs.of(sessionId)).heardAgo).toBe(0);
    await fixture.sql("update devices set last_seen_at = null where id = $1", [device.id]);
  });

  it("signs of life: an open stream counts although nothing comes over it", async () => {
    const store = new PostgresAudioStreams(fixture.pool);
    const streams = new PostgresStreamSigns(fixture.pool);
    const other = await fixture.start((await fixture.ownDevice()).device);
    const settings = {
      encoding: "pcm_s16le",
      sampleRate: 16_000,
      channels: 1,
      framing: "packet",
    } as const;
    for (const id of [sessionId, other]) {
      await fixture.sql("update sessions set status = 'recording' where id = $1", [id]);
    }
    await store.take(sessionId, { ...settings, interim: true }, () => {});
    expect(await heardNow()).toBe(true);
    await hourPasses();
    await streams.streaming([other]);
    expect(await heardNow()).toBe(false);
    await streams.streaming([sessionId, other]);
    expect(await heardNow()).toBe(true);
  });

  it("signs of life: an upload counts while it is being received", async () => {
    await hourPasses();
    const beats = heartbeats();
    const routes = uploadAudioRoutes({
      directory: new SessionStore(fixture.pool),
      tenants: fixture.context.tenants,
      chunks: new PostgresChunkStore(fixture.pool),
      blobs: fixture.blobs,
      sounds: fixture.sounds,
      converter: fixture.converter,
      notifier: { notify: () => {} },
      mending: NO_MENDING,
      backlog: { check: () => {} },
      heartbeats: beats,
    });
    const callers = { authenticate: async () => device, revalidate: async () => device };
    const front = await startFront({ routes, authenticator: callers });
    const connection = new KeptConnection(front.port);
    const wav = makeWav({ frames: 16_000 });
    const head = `POST /api/sessions/${sessionId}/upload-audio HTTP/1.1\r\nHost: a\r\nX-API-Key: k\r\nX-Chunk-Sequence: 7\r\nContent-Type: audio/wav\r\nContent-Length: ${wav.length}\r\n\r\n`;
    // Once when it begins, and again an hour later, when the next bytes come.
    connection.write(head);
    const heard = async () => {
      await beats.flush();
      return heardNow();
    };
    await until(heard, "the upload's beginning");
    await hourPasses();
    connection.write(wav.subarray(0, 100).toString("latin1"));
    await until(heard, "the upload's bytes");
    connection.end();
    await beats.stop();
    await front.stop();
  });

  it("signs of life: a device that answers pings on its stream is there", async () => {
    const front = await frontWithStreams(60);
    const viewer = new Viewer(`ws://127.0.0.1:${front.port}/api/devices/d1/stream`, {
      "x-api-key": "device-d1",
    });
    await viewer.opened();
    await until(() => seen.length > 1, "pongs");
    expect(new Set(seen)).toEqual(new Set(["d1"]));
    viewer.socket.close();
    await front.stop();
  });

  const seen: string[] = [];

  function frontWithStreams(pingMs: number): Promise<TestFront> {
    const store = new PostgresAudioStreams(fixture.pool);
    const notifier = { notify: () => {} };
    const openChunks = new PostgresOpenChunks(fixture.pool);
    const [{ blobs }, runtime] = [fixture, systemRuntime];
    const logs = fragmentLogs(blobs);
    const assembler = new ChunkAssembler({
      ...{ openChunks, blobs, logs, notifier, runtime, mending: NO_MENDING, log: silentLog },
    });
    const backlog = { check: () => {} };
    const directory = new SessionStore(fixture.pool);
    const audio = new AudioStreams({
      ...{ store, logs, assembler, notifier, backlog, runtime, log: silentLog },
      live: { publish: () => {} },
      notices: { taken: () => {}, onTaken: () => () => {} },
    });
    const devices = new DeviceStreams({
      sessions: new PostgresDeviceSessions(fixture.pool, OTHER_TABLES),
      workshops: new WorkshopStore(fixture.pool),
      ...{ directory, notifier, streams: audio },
      engines: () => [],
      heartbeats: { hear: async () => [], seen: (id) => void seen.push(id) },
    });
    const sessions = new SessionStreams({ directory, streams: audio });
    return startFront({ routes: [], streams: { devices, sessions }, liveLimits: { pingMs } });
  }

  it("signs of life: one look reads one chunk, however many the session has", async () => {
    await fixture.sql(
      `insert into chunks (id, session_id, sequence, media_type, filename, bytes, sha256, frames,
         sample_rate, duration_seconds, status)
       select gen_random_uuid(), $1, n, 'audio/wav', '', 1, sha256(n::text::bytea), 1, 16000, 1, 'completed'
       from generate_series(100, 20000) n`,
      [sessionId],
    );
    await fixture.sql("analyze chunks");
    const plan = await fixture.sql<{ "QUERY PLAN": string }>(
      `explain (analyze, timing off) select uploaded_at from chunks
       where session_id = '${sessionId}' order by uploaded_at desc limit 1`,
    );
    expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toMatch(/chunks_uploaded.*rows=1 /);
  });
});
