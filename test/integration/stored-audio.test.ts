import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import type { DevicePrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import {
  type NewChunk,
  PostgresChunkStore,
} from "../../src/conversations/recording/chunk-store.ts";
import { PostgresOpenChunks } from "../../src/conversations/recording/open-chunks-store.ts";
import type {
  PlannedFragment,
  StreamSettings,
} from "../../src/conversations/recording/stream-records.ts";
import { PostgresAudioStreams } from "../../src/conversations/recording/stream-store.ts";
import { PostgresRedactions } from "../../src/conversations/transcript/redaction-store.ts";
import { Ceilings, StoredAudio } from "../../src/postgres/ceilings.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { SessionFixture } from "../support/session-fixture.ts";

const MIGRATIONS = resolve(import.meta.dirname, "../../src/postgres/migrations/before-2.0");
const OWN = "0060_stored_audio.sql";
const SETTINGS: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 1,
  framing: "packet",
  interim: false,
};

function newChunk(sessionId: string, sequence: number, bytes: number): NewChunk {
  const seed = `${sessionId} ${sequence} ${bytes}`;
  return {
    id: newId(),
    sessionId,
    sequence,
    mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le",
    filename: "",
    bytes,
    sha256: createHash("sha256").update(seed).digest("hex"),
    frames: bytes / 2,
    sampleRate: 16_000,
    durationSeconds: bytes / 32_000,
    recordedAt: undefined,
  };
}

function fragment(bytes: number): PlannedFragment {
  return {
    format: { mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le", sampleRate: 16_000 },
    frames: bytes / 2,
    data: Buffer.alloc(bytes, 1),
    // Half as many came over the wire, as with µ-law.
    streamBytes: bytes / 2,
  };
}

/** What is counted of each session, and what is there. */
const COUNTS = `
  select s.id,
    coalesce((select bytes from stored_audio where session_id = s.id), 0)::int as counted,
    (select coalesce(sum(bytes), 0)::int from chunks where session_id = s.id) as stored,
    coalesce((select unsealed_bytes from audio_streams where session_id = s.id), 0)::int
      as "countedPieces",
    (select coalesce(sum(octet_length(data)), 0)::int from audio_pieces where session_id = s.id)
      as pieces
  from sessions s`;

interface Counts {
  id: string;
  counted: number;
  stored: number;
  countedPieces: number;
  pieces: number;
}

describe("the bytes of audio that are counted", () => {
  let fixture: SessionFixture;
  let chunks: PostgresChunkStore;
  let streams: PostgresAudioStreams;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    chunks = new PostgresChunkStore(fixture.pool);
    streams = new PostgresAudioStreams(fixture.pool);
  });
  afterAll(() => fixture.close());

  async function recording(): Promise<{ device: DevicePrincipal; sessionId: string }> {
    const { device } = await fixture.ownDevice();
    return { device, sessionId: await fixture.start(device) };
  }

  /** The counts of a session, which are those of its rows. */
  async function counts(sessionId: string): Promise<Counts> {
    const [row] = await fixture.sql<Counts & Record<string, unknown>>(`${COUNTS} where s.id = $1`, [
      sessionId,
    ]);
    if (row === undefined) throw new Error("no such session");
    expect([row.counted, row.countedPieces]).toEqual([row.stored, row.pieces]);
    return row;
  }

  it("stored audio: of uploads that come together, each once, and none that was refused", async () => {
    const [a, b] = [await recording(), await recording()];
    const all = Array.from({ length: 20 }, (_, n) =>
      newChunk(n % 3 === 0 ? a.sessionId : b.sessionId, n, 1_000 + 2 * n),
    );
    await Promise.all(all.map((chunk) => chunks.store(chunk)));
    const before = await counts(b.sessionId);
    expect(before.counted).toBeGreaterThan(10_000);
    await Promise.all(all.map((chunk) => chunks.store({ ...chunk, id: newId() })));
    const other = newChunk(b.sessionId, 1, 500);
    await expect(chunks.store(other)).rejects.toThrow("other bytes");
    expect(await counts(b.sessionId)).toEqual(before);
    await counts(a.sessionId);
  });

  it("stored audio: of an upload that waits for its session's row, and of a late one", async () => {
    const { device, sessionId } = await recording();
    const release = await fixture.hold(sessionId);
    const waiting = chunks.store(newChunk(sessionId, 0, 2_000));
    await release();
    await waiting;
    await fixture.stop(device, { last_chunk_sequence: 1 });
    await chunks.store(newChunk(sessionId, 1, 3_000));
    expect((await counts(sessionId)).counted).toBe(5_000);
  });

  it("stored audio: of a stream, before its fragments are a chunk and afterwards", async () => {
    const { sessionId } = await recording();
    const hold = await streams.take(sessionId, SETTINGS);
    const { sequence } = await streams.begin(hold, undefined, fragment(600));
    await streams.append(hold, { ...fragment(400), sequence, index: 1 });
    await streams.append(hold, { ...fragment(400), sequence, index: 1 });
    expect((await counts(sessionId)).pieces).toBe(1_000);
    const next = await streams.begin(hold, sequence, fragment(800));
    const open = new PostgresOpenChunks(fixture.pool);
    expect(await open.complete({ ...newChunk(sessionId, sequence, 1_000) }, 2)).toBeDefined();
    expect(await counts(sessionId)).toMatchObject({ counted: 1_000, pieces: 800 });
    await streams.append(hold, { ...fragment(200), sequence: next.sequence, index: 1 });
    expect((await counts(sessionId)).pieces).toBe(1_000);
    expect(await open.complete({ ...newChunk(sessionId, next.sequence, 1_000) }, 2)).toBeDefined();
    expect(await counts(sessionId)).toMatchObject({ counted: 2_000, pieces: 0 });
  });

  it("stored audio: a redaction that makes a file smaller is counted", async () => {
    const { sessionId } = await recording();
    await chunks.store(newChunk(sessionId, 0, 2_000));
    await chunks.store(newChunk(sessionId, 1, 2_000));
    await fixture.sql(
      `update chunks set start_sample = sequence * 1000, length_samples = 1000
       where session_id = $1`,
      [sessionId],
    );
    const redactions = new PostgresRedactions(fixture.pool);
    await redactions.exclusively({ sessionId, sequence: 0 }, async () => ({
      bytes: 300,
      sha256: "ab".repeat(32),
    }));
    expect((await counts(sessionId)).counted).toBe(2_300);
    await redactions.exclusively({ sessionId, sequence: 0 }, async () => ({
      bytes: 300,
      sha256: "ab".repeat(32),
    }));
    expect((await counts(sessionId)).counted).toBe(2_300);
  });

  it("stored audio: a deleted session counts nothing, nor what its stream had", async () => {
    const { device, sessionId } = await recording();
    await chunks.store(newChunk(sessionId, 0, 2_000));
    const hold = await streams.take(sessionId, SETTINGS);
    await streams.begin(hold, undefined, fragment(600));
    const limit = new Ceilings({ stored_bytes_per_workspace: 2_600 });
    const judged = () => limit.assertStoredBytes(fixture.pool, device.workspaceId);
    await expect(judged()).rejects.toThrow("at most 2600 bytes of audio, and this one has 2600");
    const actor = { kind: "user", id: device.ownerId } as const;
    const deletion = new PostgresSessionDeletion(fixture.pool, DELETION_PARTS);
    await deletion.erase(sessionId, "session_deleted_by_owner", actor);
    const rows = await fixture.sql("select from stored_audio where session_id = $1", [sessionId]);
    expect(rows).toEqual([]);
    const none = new Ceilings({ stored_bytes_per_workspace: 1 });
    await none.assertStoredBytes(fixture.pool, device.workspaceId);
  });

  it("stored audio: its sum is told to operators", async () => {
    const total = new StoredAudio(fixture.pool);
    const { sessionId } = await recording();
    await total.refresh();
    const before = total.bytes;
    await chunks.store(newChunk(sessionId, 0, 7_000));
    await total.refresh();
    expect(total.bytes).toBe(before + 7_000);
  });

  it("stored audio: other workspaces' audio does not count", async () => {
    const [one, other] = [await recording(), await recording()];
    await chunks.store(newChunk(one.sessionId, 0, 2_000));
    const limit = new Ceilings({ stored_bytes_per_workspace: 1 });
    await limit.assertStoredBytes(fixture.pool, other.device.workspaceId);
    await expect(
      limit.assertStoredBytes(fixture.pool, one.device.workspaceId),
    ).rejects.toMatchObject({ code: "quota_exceeded" });
    expect(limit.refused.get("stored_bytes_per_workspace")).toBe(1);
  });
});

it("stored audio: what was stored before it was counted is counted by the migration", async () => {
  const database = await createTestDatabase();
  const run = (text: string, values: unknown[] = []) =>
    withClient(database.ownerUrl, (client) => client.query(text, values));
  await run("drop schema public cascade; create schema public");
  const earlier = makeScratchFolder("migrations");
  for (const name of readdirSync(MIGRATIONS)) {
    if (name < OWN) copyFileSync(join(MIGRATIONS, name), join(earlier, name));
  }
  await migrate(database.ownerUrl, { folder: pathToFileURL(`${earlier}/`) });
  const [user, second, workspace] = [newId(), newId(), newId()];
  const sessions = { kept: newId(), deleted: newId(), streaming: newId() };
  for (const id of [user, second]) {
    await run("insert into users (id, email, role) values ($1, $2, 'participant')", [id, id]);
  }
  await run("insert into workspaces (id, name) values ($1, 'W')", [workspace]);
  for (const [at, id] of [second, user].entries()) {
    await run(
      `insert into workspace_members (workspace_id, user_id, role, created_at)
       values ($1, $2, 'owner', now() - $3 * interval '1 day')`,
      [workspace, id, at],
    );
  }
  for (const [kind, id] of Object.entries(sessions)) {
    const status = { kept: "completed", deleted: "deleted", streaming: "recording" }[kind];
    await run(
      `insert into sessions (id, workspace_id, owner_id, job_id, status)
       values ($1, $2, $3, $4, $5)`,
      [id, workspace, user, newId(), status],
    );
    await run(
      `insert into chunks (session_id, sequence, id, media_type, filename, bytes, sha256,
         frames, sample_rate, duration_seconds)
       select $1, n, gen_random_uuid(), 'audio/wav', '', 500 + n, sha256('x'), 1, 16000, 1
       from generate_series(0, 1) as n`,
      [id],
    );
  }
  await run("insert into audio_streams (session_id, settings) values ($1, '{}')", [
    sessions.streaming,
  ]);
  await run(
    `insert into audio_pieces (session_id, sequence, piece, media_type, frames, sample_rate, data)
     select $1, 2, n, 'audio/pcm', 1, 16000, '\\x0102'::bytea from generate_series(0, 9) as n`,
    [sessions.streaming],
  );
  expect((await migrate(database.ownerUrl)).applied).toContain(OWN);
  const { rows } = await run(COUNTS);
  const byId = Object.fromEntries(rows.map((row: Counts) => [row.id, row]));
  expect(byId[sessions.kept]).toMatchObject({ counted: 1_001, countedPieces: 0 });
  expect(byId[sessions.deleted]).toMatchObject({ counted: 0 });
  expect(byId[sessions.streaming]).toMatchObject({ counted: 1_001, countedPieces: 20 });
  // The first of its owners is taken to have made it.
  expect((await run("select created_by from workspaces")).rows).toEqual([{ created_by: user }]);
  rmSync(earlier, { recursive: true, force: true });
  await database.drop();
});
