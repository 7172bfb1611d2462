import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { DevicePrincipal } from "../../src/access/principal.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { CommandSender, createNotifier } from "../../src/nats/command-sender.ts";
import { PartitionOwners } from "../../src/nats/partition-owners.ts";
import { makeWav } from "../support/make-wav.ts";
import { codeOf } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { soundBytes } from "../support/sound-files.ts";

const second = (seed: number): Buffer => makeWav({ frames: 16_000, seed });

/** Nobody can be asked who has the session, and the bus takes what it is given for ever. */
function hangingSender(): CommandSender {
  const never = () => new Promise<never>(() => {});
  return new CommandSender({
    line: {
      publish() {},
      subscribe: () => () => {},
      request: never,
      serve: () => () => {},
      flush: never,
      isClosed: () => false,
      onBack() {},
    },
    owners: new PartitionOwners(never, systemRuntime),
    record: { now: never, fate: never },
    runtime: systemRuntime,
  });
}

describe("upload-audio", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());

  async function recording(): Promise<void> {
    ({ device } = await fixture.ownDevice());
    sessionId = await fixture.start(device);
  }

  async function rows(): Promise<{ sequence: number; id: string }[]> {
    return fixture.sql("select sequence, id from chunks where session_id = $1 order by sequence", [
      sessionId,
    ]);
  }

  it("upload-audio: answers 201 with the chunk after row, audio and command are there", async () => {
    await recording();
    const { status, body } = await fixture.upload(device, sessionId, 0, second(1));
    expect(status).toBe(201);
    expect(body).toEqual({
      success: true,
      chunk_id: expect.any(String),
      chunk_sequence: 0,
      transcription_status: "pending",
      duration_seconds: 1,
    });
    const [stored] = await fixture.sql("select * from chunks where session_id = $1", [sessionId]);
    expect(stored).toMatchObject({
      id: body.chunk_id,
      media_type: "audio/wav",
      filename: "chunk.wav",
      frames: "16000",
      sample_rate: 16_000,
      status: "pending",
    });
    const audio = await fixture.blobs.read(sessionId, stored?.sha256.toString("hex"));
    expect(audio.equals(second(1))).toBe(true);
    const [, outbox] = await fixture.sql(
      "select id, command from outbox where session_id = $1 order by id",
      [sessionId],
    );
    expect(outbox?.command).toEqual({
      type: "ChunkStored",
      chunkId: body.chunk_id,
      sequence: 0,
      frames: 16_000,
      sampleRate: 16_000,
    });
    expect(fixture.notified.map(({ id }) => id)).toContain(outbox?.id);
  });

  it("upload-audio: the same bytes again are 200 with the same chunk, other bytes 409", async () => {
    await recording();
    const first = await fixture.upload(device, sessionId, 0, second(1));
    const again = await fixture.upload(device, sessionId, 0, second(1));
    expect(again).toEqual({ status: 200, body: first.body });
    expect(await codeOf(fixture.upload(device, sessionId, 0, second(2)))).toBe("chunk_conflict");
    expect(await rows()).toHaveLength(1);
  });

  it("upload-audio: a file takes the share of who owns the workspace, whoever has the device", async () => {
    const owner = await fixture.user();
    const member = await fixture.user();
    const workspaceId = await fixture.workspace(owner.id);
    await fixture.join(workspaceId, member.id);
    const theirs = await fixture.device(workspaceId, member.id);
    const session = await fixture.start(theirs);
    const measured = vi.spyOn(fixture.sounds, "measure");
    try {
      await fixture.upload(theirs, session, 0, soundBytes("mono-44100.mp3"));
      expect(measured.mock.calls.map(([tenant]) => tenant)).toEqual([owner.id]);
    } finally {
      measured.mockRestore();
    }
  });

  it("upload-audio: equal silence under two sequences is two chunks", async () => {
    await recording();
    const first = await fixture.upload(device, sessionId, 0, second(0));
    const next = await fixture.upload(device, sessionId, 1, second(0));
    expect([first.status, next.status]).toEqual([201, 201]);
    expect(first.body.chunk_id).not.toBe(next.body.chunk_id);
    expect(await rows()).toHaveLength(2);
  });

  it("upload-audio: of parallel uploads of the same bytes one stores, all get its chunk", async () => {
    await recording();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => fixture.upload(device, sessionId, 3, second(1))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(new Set(answers.map(({ body }) => body.chunk_id)).size).toBe(1);
    expect(await rows()).toHaveLength(1);
  });

  it("upload-audio: of parallel uploads of other bytes one stores, the others are 409", async () => {
    await recording();
    const codes = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        codeOf(fixture.upload(device, sessionId, 0, second(n + 1))),
      ),
    );
    expect(codes.filter((code) => code === "none")).toHaveLength(1);
    expect(codes.filter((code) => code === "chunk_conflict")).toHaveLength(5);
    expect(await rows()).toHaveLength(1);
  });

  it("upload-audio: an upload that races stop is either in the end or refused", async () => {
    for (let round = 0; round < 10; round += 1) {
      await recording();
      await fixture.upload(device, sessionId, 0, second(1));
      const [code] = await Promise.all([
        codeOf(fixture.upload(device, sessionId, 1, second(2))),
        fixture.stop(device),
      ]);
      const [stop] = await fixture.sql(
        "select command from outbox where session_id = $1 and command ->> 'type' = 'Stop'",
        [sessionId],
      );
      const stored = await rows();
      expect(["none", "session_ended"]).toContain(code);
      expect(stop?.command.lastSequence).toBe(stored.length - 1);
      expect(stored).toHaveLength(code === "none" ? 2 : 1);
    }
  });

  it("upload-audio: after stop only missing sequences up to the last are taken", async () => {
    await recording();
    await fixture.upload(device, sessionId, 0, second(1));
    await fixture.upload(device, sessionId, 2, second(3));
    await fixture.stop(device, { last_chunk_sequence: 3 });
    expect((await fixture.upload(device, sessionId, 1, second(2))).status).toBe(201);
    expect((await fixture.upload(device, sessionId, 3, second(4))).status).toBe(201);
    expect(await codeOf(fixture.upload(device, sessionId, 4, second(5)))).toBe("session_ended");
    expect((await fixture.upload(device, sessionId, 2, second(3))).status).toBe(200);
  });

  it("upload-audio: without a last sequence the highest seen counts", async () => {
    await recording();
    await fixture.upload(device, sessionId, 2, second(1));
    await fixture.stop(device);
    expect((await fixture.upload(device, sessionId, 0, second(2))).status).toBe(201);
    expect(await codeOf(fixture.upload(device, sessionId, 3, second(3)))).toBe("session_ended");
  });

  it("upload-audio: 24 hours after stop nothing new is taken, but a repeat is 200", async () => {
    await recording();
    await fixture.upload(device, sessionId, 1, second(1));
    await fixture.stop(device);
    await fixture.sql(
      "update sessions set stopped_at = now() - interval '25 hours' where id = $1",
      [sessionId],
    );
    expect(await codeOf(fixture.upload(device, sessionId, 0, second(2)))).toBe("session_ended");
    expect((await fixture.upload(device, sessionId, 1, second(1))).status).toBe(200);
  });

  it("upload-audio: a process that dies between audio and commit leaves no row and may repeat", async () => {
    await recording();
    const wav = second(1);
    const sha256 = createHash("sha256").update(wav).digest("hex");
    const temporary = join(fixture.blobs.temporaryFolder, "cut");
    writeFileSync(temporary, wav);
    await fixture.blobs.put(sessionId, sha256, temporary);
    expect(readdirSync(join(fixture.folder, sessionId))).toEqual([sha256]);
    expect(await rows()).toHaveLength(0);
    expect((await fixture.upload(device, sessionId, 0, wav)).status).toBe(201);
    expect(readdirSync(join(fixture.folder, sessionId))).toHaveLength(1);
  });

  it("upload-audio: a bus that fails or hangs does not fail the upload", async () => {
    await recording();
    const before = fixture.notify;
    const post = () => {
      throw new AppError("unavailable", "bus away");
    };
    fixture.notify = createNotifier({ post }, silentLog).notify;
    expect((await fixture.upload(device, sessionId, 0, second(1))).status).toBe(201);
    fixture.notify = createNotifier(hangingSender(), silentLog).notify;
    expect((await fixture.upload(device, sessionId, 1, second(2))).status).toBe(201);
    fixture.notify = before;
    const waiting = await fixture.sql("select 1 from outbox where session_id = $1", [sessionId]);
    expect(waiting).toHaveLength(3);
  });

  it("upload-audio: unknown sessions are 404, another device's 403, deleted ones 404", async () => {
    await recording();
    const other = (await fixture.ownDevice()).device;
    expect(await codeOf(fixture.upload(device, newId(), 0, second(1)))).toBe("not_found");
    expect(await codeOf(fixture.upload(device, "nonsense", 0, second(1)))).toBe("not_found");
    expect(await codeOf(fixture.upload(other, sessionId, 0, second(1)))).toBe("forbidden");
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    expect(await codeOf(fixture.upload(device, sessionId, 0, second(1)))).toBe("not_found");
  });

  it("upload-audio: missing and malformed sequences are 400", async () => {
    await recording();
    for (const sequence of [undefined, "", "-1", "1.5", "x", "1e3", "99999999"]) {
      expect(await codeOf(fixture.upload(device, sessionId, sequence, second(1)))).toBe(
        "invalid_body",
      );
    }
    const started = { fields: { chunk_sequence: "0", started_at: "yesterday" } };
    expect(await codeOf(fixture.upload(device, sessionId, 0, second(1), started))).toBe(
      "invalid_body",
    );
    expect(await rows()).toHaveLength(0);
  });

  it("upload-audio: more than 15 minutes of audio in one chunk is 413", async () => {
    await recording();
    const long = makeWav({ frames: 8_000 * 901, sampleRate: 8_000, bits: 8 });
    expect(await codeOf(fixture.upload(device, sessionId, 0, long))).toBe("payload_too_large");
  });
});
