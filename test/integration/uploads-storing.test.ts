import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { systemClock } from "../../src/base/clock.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import type { FileConverter } from "../../src/conversations/recording/audio-files/file-converter.ts";
import { PostgresChunkStore } from "../../src/conversations/recording/chunk-store.ts";
import { PostgresDeviceSessions } from "../../src/conversations/recording/device-sessions-store.ts";
import { WholeFiles } from "../../src/conversations/recording/whole-files.ts";
import { FileStoring } from "../../src/conversations/uploads/file-storing.ts";
import { expiredUploads, IncomingFolder } from "../../src/conversations/uploads/incoming-folder.ts";
import { UploadStore } from "../../src/conversations/uploads/store.ts";
import { Ceilings, NO_CEILINGS } from "../../src/postgres/ceilings.ts";
import { OTHER_TABLES } from "../../src/roles/other-tables.ts";
import { makeWav } from "../support/make-wav.ts";
import { callRoute, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { until } from "../support/until.ts";
import { NO_MENDING } from "../support/verified-audio.ts";

type Decoder = Pick<FileConverter, "convert" | "isAvailable">;

const NO_DECODER: Decoder = {
  convert: () => Promise.reject(new Error("There is none.")),
  isAvailable: false,
};
/** More than Node reads at once. It is a hole, and takes no room. */
const LARGE = 2_200 * 1024 * 1024;

/** What becomes of whole files when processes die, and of those that nobody goes on with. */
describe("storing of uploads", () => {
  let fixture: SessionFixture;
  let owner: UserPrincipal;
  let device: DevicePrincipal;
  let uploads: UploadStore;
  let folder: IncomingFolder;
  const wav = makeWav({ frames: 40_000, seed: 3 });
  const { signal } = new AbortController();

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    ({ device, owner } = await fixture.ownDevice());
    uploads = new UploadStore(fixture.pool, NO_CEILINGS);
    mkdirSync(fixture.blobs.uploadsFolder, { recursive: true });
    folder = new IncomingFolder(fixture.blobs.uploadsFolder, fixture.blobs.temporaryFolder);
  });
  afterAll(() => fixture.close());

  async function begin(): Promise<string> {
    const body = { workspace_id: device.workspaceId };
    const made = await callRoute(fixture.routes, "createSession", { principal: owner, body });
    return String(jsonBody(made).id);
  }

  async function arrived(sessionId: string, accountId = owner.id): Promise<string> {
    const id = newId();
    const upload = await uploads.create({
      ...{ id, sessionId, workspaceId: device.workspaceId, size: wav.byteLength, isLast: true },
      ...{ uploaderId: owner.id, accountId, filename: "a.wav", sha256: id },
      mediaType: "audio/wav",
    });
    await folder.create(upload, { kind: "memory", data: wav });
    return id;
  }

  /** `die` ends the process after the chunks are stored. */
  function storing(die = false, converter: Decoder = fixture.converter): FileStoring {
    const { blobs, pool, sounds } = fixture;
    const files = new WholeFiles({
      ...{ chunks: new PostgresChunkStore(pool), blobs, sounds },
      ...{ converter, notifier: fixture.context.notifier, mending: NO_MENDING },
      ...{ backlog: { check: () => {} }, folder: blobs.temporaryFolder },
      assertRoom: async () => {},
    });
    const sessions = new PostgresDeviceSessions(pool, OTHER_TABLES);
    const dying = { stop: () => Promise.reject(new AppError("unavailable", "It died.")) };
    return new FileStoring({
      ...{ uploads, folder, files, sessions: die ? dying : sessions },
      ...{ notifier: fixture.context.notifier, runtime: systemRuntime },
      log: silentLog,
    });
  }

  const stateOf = async (id: string) => {
    const [row] = await fixture.sql<{ state: string }>(
      "select state from file_uploads where id = $1",
      [id],
    );
    return row?.state;
  };
  const chunksOf = (sessionId: string) =>
    fixture.sql("select sequence from chunks where session_id = $1 order by 1", [sessionId]);

  it("uploads: what a process left half done another one finishes, once", async () => {
    const sessionId = await begin();
    const id = await arrived(sessionId);
    await expect(storing(true).store(id, signal, true)).rejects.toThrow("It died.");
    // As if it had not been able to give the file back.
    const alive = await uploads.take(id);
    expect(await storing().store(id, signal, true)).toBe(false);
    expect(alive?.upload.firstSequence).toBe(0);
    await fixture.sql("update file_uploads set held_until = now() - interval '1 s' where id = $1", [
      id,
    ]);
    expect(await uploads.waiting(10, [])).toContain(id);
    expect(await storing().store(id, signal, true)).toBe(true);
    expect(await stateOf(id)).toBe("stored");
    expect(await chunksOf(sessionId)).toEqual([{ sequence: 0 }]);
    const [session] = await fixture.sql("select status from sessions where id = $1", [sessionId]);
    expect(session).toEqual({ status: "processing" });
  });

  it("uploads: a compressed file that is larger than can be read ends its session", async () => {
    const sessionId = await begin();
    const path = join(fixture.blobs.temporaryFolder, newId());
    writeFileSync(path, "fLaC\0\0\0\x22", "latin1");
    truncateSync(path, LARGE);
    const id = newId();
    const upload = await uploads.create({
      ...{ id, sessionId, workspaceId: device.workspaceId, size: LARGE, isLast: true },
      ...{ uploaderId: owner.id, accountId: owner.id, filename: "a.flac", sha256: id },
      mediaType: "audio/flac",
    });
    await folder.create(upload, { kind: "file", path });
    const failing = storing(false, NO_DECODER).store(id, signal, true);
    await expect(failing).rejects.toMatchObject({ code: "payload_too_large" });
    expect(await stateOf(id)).toBe("failed");
    expect(await folder.lend({ sessionId, id })).toBeUndefined();
    const [session] = await fixture.sql("select status from sessions where id = $1", [sessionId]);
    expect(session).not.toEqual({ status: "recording" });
  });

  it("uploads: files of a session are stored one after the other, each behind the one before", async () => {
    const sessionId = await begin();
    const [first, second] = [await arrived(sessionId), await arrived(sessionId)];
    const held = await uploads.take(first);
    expect(await uploads.waiting(10, [])).not.toContain(second);
    await uploads.release(first, held?.holder ?? "");
    expect(await storing().store(first, signal, true)).toBe(true);
    expect(await storing().store(second, signal, true)).toBe(true);
    expect(await chunksOf(sessionId)).toEqual([{ sequence: 0 }, { sequence: 1 }]);
  });

  it("uploads: the runner stores what waits, one after the other, and what it is woken for", async () => {
    await fixture.sql("delete from file_uploads");
    const sessionId = await begin();
    const waiting = [await arrived(sessionId), await arrived(sessionId)];
    const { runner } = storing();
    const isStored = async (id: string) => (await stateOf(id)) === "stored";
    runner.start();
    for (const id of waiting) await until(() => isStored(id), "the file to be stored");
    expect(await chunksOf(sessionId)).toEqual([{ sequence: 0 }, { sequence: 1 }]);
    const later = await arrived(await begin());
    runner.wake();
    await until(() => isStored(later), "the file that came later");
    await runner.stop();
  });

  it("uploads: no account waits for another one's many files", async () => {
    await fixture.sql("delete from file_uploads");
    const flood: string[] = [];
    for (let n = 0; n < 4; n += 1) flood.push(await arrived(await begin()));
    const other = await arrived(await begin(), newId());
    expect(await uploads.waiting(10, [])).toEqual([flood[0], other]);
    await uploads.take(flood[0] ?? "");
    expect(await uploads.waiting(10, [])).toEqual([other]);
  });

  it("uploads: a file whose time is over is removed, with what was known of it", async () => {
    const sessionId = await begin();
    const id = await arrived(sessionId);
    await fixture.sql("update file_uploads set expires_at = now() - interval '1 s' where id = $1", [
      id,
    ]);
    await expiredUploads({ uploads, folder, clock: systemClock, log: silentLog }).run();
    expect(await stateOf(id)).toBeUndefined();
    expect(await folder.lend({ sessionId, id })).toBeUndefined();
  });

  it("uploads: unfinished files count for what a workspace may store", async () => {
    const sessionId = await begin();
    await arrived(sessionId);
    const full = new UploadStore(fixture.pool, new Ceilings({ stored_bytes_per_workspace: 1_000 }));
    const upload = {
      ...{ id: newId(), sessionId, workspaceId: device.workspaceId, size: 10, isLast: true },
      ...{ uploaderId: owner.id, accountId: owner.id, filename: "", mediaType: "audio/wav" },
    };
    await expect(full.create(upload)).rejects.toMatchObject({ code: "quota_exceeded" });
    await expect(uploads.create(upload)).resolves.toMatchObject({ state: "receiving" });
  });
});
