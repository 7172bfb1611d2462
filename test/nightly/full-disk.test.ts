import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { AttackedService, type Headers } from "../support/attacked-service.ts";
import { PCM } from "../support/paired-device.ts";
import { createTestDatabase, superuserUrl } from "../support/postgres.ts";
import { SmallDisk, whyNoDisk } from "../support/small-disk.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

const MEGABYTE = 1_048_576;
const DISK = 4;
/** Of a workspace: half of the disk. */
const MOST = 2 * MEGABYTE;

const problem = whyNoDisk();
/** The title says why these are left out, where they are. */
const titled = (title: string) =>
  problem === undefined ? title : `${title} (skipped: ${problem})`;

/** Sound of this length that no other call makes. */
function sound(bytes: number): Buffer {
  const made = Buffer.alloc(bytes, 1);
  sound.made += 1;
  made.write(String(sound.made));
  return made;
}
sound.made = 0;

interface Recorder {
  headers: Headers;
  deviceId: string;
  key: Headers;
}

/** What recorders do to a service. */
class Recorders {
  readonly service: AttackedService;

  constructor(service: AttackedService) {
    this.service = service;
  }

  async add(): Promise<Recorder> {
    const { id, headers } = await this.service.addUser();
    const workspace_id = await this.service.addWorkspace(id);
    const made = await this.service.done("POST", "/devices", headers, { workspace_id });
    const key = { "x-api-key": String(made.api_key) };
    return { headers, deviceId: String(made.device_id), key };
  }

  start({ deviceId, key }: Recorder) {
    return this.service.call("POST", `/devices/${deviceId}/session/start`, key, {});
  }

  async begun(recorder: Recorder): Promise<string> {
    const { status, body } = await this.start(recorder);
    expect(status).toBe(201);
    return String(body.session_id);
  }

  stop({ deviceId, key }: Recorder) {
    return this.service.done("POST", `/devices/${deviceId}/session/stop`, key, {});
  }

  upload({ key }: Recorder, sessionId: string, sequence: number, audio: Buffer) {
    const headers = { ...key, "content-type": PCM, "x-chunk-sequence": String(sequence) };
    return this.service.call("POST", `/sessions/${sessionId}/upload-audio`, headers, audio);
  }

  /** Sequences that are stored. */
  async sequences(sessionId: string): Promise<number[]> {
    const rows = await this.service.sql<{ sequence: number }>(
      "select sequence from chunks where session_id = $1 order by sequence",
      [sessionId],
    );
    return rows.map(({ sequence }) => sequence);
  }

  /** Commands to the session that are about chunks. */
  async told(sessionId: string): Promise<number[]> {
    const rows = await this.service.sql<{ sequence: number }>(
      `select (payload->>'sequence')::int as sequence from events
       where session_id = $1 and type = 'ChunkPlaced'
       union select (command->>'sequence')::int from outbox
       where session_id = $1 and command->>'type' = 'ChunkStored' order by 1`,
      [sessionId],
    );
    return rows.map(({ sequence }) => sequence);
  }
}

describe.skipIf(problem !== undefined)(titled("the disk of the audio"), () => {
  let disk: SmallDisk;
  let service: AttackedService;
  let all: Recorders;

  beforeAll(async () => {
    disk = new SmallDisk(DISK);
    service = await AttackedService.open({ VOICE_BLOB_DIR: disk.folder });
    all = new Recorders(service);
  });
  afterAll(async () => {
    await service?.close();
    disk?.close();
  });

  /** The files of a session, each of which is whole. */
  function files(sessionId: string): number {
    const folder = join(disk.folder, sessionId);
    const names = readdirSync(folder);
    for (const name of names) {
      const bytes = readFileSync(join(folder, name));
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(name);
    }
    return names.length;
  }
  const leftOver = () => readdirSync(join(disk.folder, "tmp"));

  // Above 256 KiB an upload is received in a file, below it in memory.
  it.each([
    ["in memory", 200_000],
    ["in a file", 600_000],
  ])(
    "full disk: what is received %s is 507, leaves nothing, and goes through later",
    async (_, bytes) => {
      const recorder = await all.add();
      const sessionId = await all.begun(recorder);
      expect((await all.upload(recorder, sessionId, 0, sound(bytes))).status).toBe(201);
      disk.fill(bytes / 2);
      const audio = sound(bytes);
      const refused = await all.upload(recorder, sessionId, 1, audio);
      expect([refused.status, refused.code]).toEqual([507, "storage_full"]);
      expect(await all.sequences(sessionId)).toEqual([0]);
      expect(await all.told(sessionId)).toEqual([0]);
      expect(files(sessionId)).toBe(1);
      await until(() => leftOver().length === 0, "the part that was received to go");
      // The room that there was is there again.
      expect(disk.free).toBeGreaterThanOrEqual(bytes / 2 - 8_192);
      const listed = await service.done("GET", `/sessions/${sessionId}/chunks`, recorder.headers);
      expect(listed.chunks).toHaveLength(1);
      disk.empty();
      expect((await all.upload(recorder, sessionId, 1, audio)).status).toBe(201);
      expect((await all.upload(recorder, sessionId, 1, audio)).status).toBe(200);
      expect(await all.sequences(sessionId)).toEqual([0, 1]);
      expect(files(sessionId)).toBe(2);
      await service.done("DELETE", `/sessions/${sessionId}`, recorder.headers);
    },
  );

  it("full disk: who finds no room keeps nobody from what there is", async () => {
    const [large, small] = [await all.add(), await all.add()];
    const [theirs, ours] = [await all.begun(large), await all.begun(small)];
    disk.fill(150_000);
    // Together, so that they are written together.
    const [refused, ...taken] = await Promise.all([
      all.upload(large, theirs, 0, sound(250_000)),
      ...Array.from({ length: 4 }, (_, n) => all.upload(small, ours, n, sound(4_000))),
    ]);
    expect([refused.status, refused.code]).toEqual([507, "storage_full"]);
    expect(taken.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(files(ours)).toBe(4);
    disk.empty();
  });

  it("full disk: streams are acknowledged on, and become chunks when there is room", async () => {
    const recorder = await all.add();
    const sessionId = await all.begun(recorder);
    disk.fill();
    const url = service.liveUrl.replace(/live$/, `devices/${recorder.deviceId}/stream`);
    const socket = await new Viewer(url, { ...recorder.key }).opened();
    const encoding = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 };
    socket.send({ type: "Configure", session_id: sessionId, ...encoding });
    await socket.received("Begin");
    const audio = sound(64_000);
    socket.socket.send(audio);
    const isSafe = () => socket.frames.some((frame) => frame.audio_offset_bytes === audio.length);
    await until(isSafe, "the audio to be acknowledged");
    socket.send({ type: "CloseStream" });
    // No room for a chunk of an upload either, and the session is as it was.
    const refused = await all.upload(recorder, sessionId, 5, sound(8_000));
    expect([refused.status, refused.code]).toEqual([507, "storage_full"]);
    const shown = await service.done("GET", `/sessions/${sessionId}`, recorder.headers);
    expect(shown.status).toBe("recording");
    expect(await all.sequences(sessionId)).toEqual([]);
    disk.empty();
    const isChunk = async () => (await all.sequences(sessionId)).length === 1;
    await until(isChunk, "the stream to become a chunk", 60_000);
    const [name = ""] = readdirSync(join(disk.folder, sessionId));
    expect(readFileSync(join(disk.folder, sessionId, name)).equals(audio)).toBe(true);
    socket.socket.close();
  });

  it.each([
    ["in memory", 200_000],
    ["in a file", 600_000],
  ])(
    "read-only disk: what is received %s is 503, streams go on, the health says it, and it heals",
    async (_, bytes) => {
      const recorder = await all.add();
      const sessionId = await all.begun(recorder);
      const url = service.liveUrl.replace(/live$/, `devices/${recorder.deviceId}/stream`);
      const socket = await new Viewer(url, { ...recorder.key }).opened();
      const encoding = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 };
      socket.send({ type: "Configure", session_id: sessionId, ...encoding });
      await socket.received("Begin");
      const other = await all.add();
      const theirs = await all.begun(other);
      const audio = sound(bytes);
      disk.remount("ro");
      try {
        const refused = await all.upload(other, theirs, 0, audio);
        expect([refused.status, refused.code]).toEqual([503, "unavailable"]);
        const streamed = sound(64_000);
        socket.socket.send(streamed);
        const isSafe = () =>
          socket.frames.some((frame) => frame.audio_offset_bytes === streamed.length);
        await until(isSafe, "the audio to be acknowledged");
        socket.send({ type: "CloseStream" });
        const health = () => service.call("GET", "/health/ready");
        const isTold = async () => (await health()).text.includes("EROFS");
        await until(isTold, "the health to tell it", 30_000);
        const { status, body } = await health();
        expect([status, body]).toMatchObject([
          200,
          { status: "degraded", checks: { audio: { status: "down" } } },
        ]);
      } finally {
        disk.remount("rw");
      }
      expect((await all.upload(other, theirs, 0, audio)).status).toBe(201);
      const isChunk = async () => (await all.sequences(sessionId)).length === 1;
      await until(isChunk, "the stream to become a chunk", 60_000);
      await until(async () => leftOver().length === 0, "nothing to be left over");
      socket.socket.close();
    },
  );
});

describe.skipIf(problem !== undefined)(titled("a disk that one tenant fills"), () => {
  it("full disk: the ceiling keeps his next session out, and others record on", async () => {
    const disk = new SmallDisk(DISK);
    const env = { VOICE_BLOB_DIR: disk.folder, MAX_STORED_BYTES_PER_WORKSPACE: String(MOST) };
    const service = await AttackedService.open(env);
    const all = new Recorders(service);
    try {
      const [hog, neighbour] = [await all.add(), await all.add()];
      const theirs = await all.begun(neighbour);
      // Sessions of a quarter of the disk each, one after the other, for as long as he may.
      let sessions = 0;
      for (;;) {
        const started = await all.start(hog);
        if (started.status !== 201) {
          expect([started.status, started.code]).toEqual([403, "quota_exceeded"]);
          break;
        }
        sessions += 1;
        for (const sequence of [0, 1]) {
          const session = String(started.body.session_id);
          const sent = await all.upload(hog, session, sequence, sound(MEGABYTE / 2));
          expect(sent.status).toBe(201);
        }
        await all.stop(hog);
      }
      expect(sessions).toBe(MOST / MEGABYTE);
      expect(disk.free).toBeGreaterThan(MEGABYTE);
      expect((await all.upload(neighbour, theirs, 0, sound(MEGABYTE / 2))).status).toBe(201);
      await all.stop(neighbour);
      await all.begun(neighbour);
    } finally {
      await service.close();
      disk.close();
    }
  });
});

describe.skipIf(problem !== undefined)(titled("the database's disk"), () => {
  it("full disk: of the database: 507, nothing is half taken, and it goes through later", async () => {
    const database = await createTestDatabase();
    const admin = superuserUrl(database);
    const disk = await diskForRows(admin);
    const service = await AttackedService.open({}, database);
    const all = new Recorders(service);
    const space = `small_${process.pid}`;
    try {
      await moveChunks(admin, space, disk);
      const [one, other] = [await all.add(), await all.add()];
      const [ours, theirs] = [await all.begun(one), await all.begun(other)];
      disk.fill();
      const taken: number[] = [];
      let audio = sound(3_200);
      let refused = await all.upload(one, ours, 0, audio);
      // Until the last page that there is has no place for another row.
      for (let sequence = 1; refused.status === 201 && sequence < 500; sequence += 1) {
        taken.push(sequence - 1);
        audio = sound(3_200);
        refused = await all.upload(one, ours, sequence, audio);
      }
      expect([refused.status, refused.code]).toEqual([507, "storage_full"]);
      expect(refused.text).toContain("database's disk is full");
      expect(await all.sequences(ours)).toEqual(taken);
      const written = await service.sql<{ n: number }>(
        `select count(*)::int as n from outbox where session_id = $1 and command @> $2`,
        [ours, { type: "ChunkStored", sequence: taken.length }],
      );
      expect(written).toEqual([{ n: 0 }]);
      const [counted] = await service.sql<{ bytes: number }>(
        "select bytes::int from stored_audio where session_id = $1",
        [ours],
      );
      expect(counted?.bytes ?? 0).toBe(taken.length * audio.length);
      // What needs no more of that disk goes on: reading, a heartbeat, another session's end.
      expect((await service.call("GET", `/sessions/${ours}`, one.headers)).status).toBe(200);
      const beat = await service.call("POST", `/devices/${one.deviceId}/heartbeat`, one.key, {});
      expect(beat.status).toBe(200);
      await all.stop(other);
      expect((await all.upload(other, theirs, 0, sound(3_200))).status).toBe(409);
      disk.empty();
      expect((await all.upload(one, ours, taken.length, audio)).status).toBe(201);
      expect(await all.sequences(ours)).toEqual([...taken, taken.length]);
    } finally {
      await service.close();
      const elsewhere = new URL(admin);
      elsewhere.pathname = "/postgres";
      await withClient(elsewhere.href, (client) => client.query(`drop tablespace ${space}`));
      disk.close();
    }
  });
});

/** A disk for a table space of the server whose superuser this is. */
async function diskForRows(admin: string): Promise<SmallDisk> {
  const data = await withClient(admin, async (client) => {
    const { rows } = await client.query("select current_setting('data_directory') as folder");
    return String(rows[0]?.folder);
  });
  return new SmallDisk(DISK, statSync(data));
}

/** Puts the table whose rows uploads add on the disk. */
async function moveChunks(admin: string, space: string, { folder }: SmallDisk): Promise<void> {
  await withClient(admin, async (client) => {
    await client.query(`create tablespace ${space} location '${folder}'`);
    await client.query(`alter table chunks set tablespace ${space}`);
  });
}
