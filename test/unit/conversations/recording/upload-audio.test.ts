import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionFacts } from "../../../../src/access/policy.ts";
import type { Principal } from "../../../../src/access/principal.ts";
import { AppError } from "../../../../src/base/errors.ts";
import { newId } from "../../../../src/base/ids.ts";
import type { BlobStore } from "../../../../src/conversations/recording/audio-store/audio-store.ts";
import type { ChunkStore, NewChunk } from "../../../../src/conversations/recording/chunk-store.ts";
import {
  readSequence,
  readStartedAt,
  uploadAudioRoutes,
} from "../../../../src/conversations/recording/upload.ts";
import type { Upload } from "../../../../src/rest/route.ts";
import { makeWav } from "../../../support/make-wav.ts";
import { callRoute, codeOf } from "../../../support/route-call.ts";
import { soundBytes } from "../../../support/sound-files.ts";
import { NO_MENDING } from "../../../support/verified-audio.ts";

const sessionId = newId();
const device: Principal = {
  kind: "device",
  id: newId(),
  keyId: newId(),
  workspaceId: newId(),
  ownerId: newId(),
  expiresAt: 0,
};
const facts: SessionFacts = {
  kind: "session",
  workspaceId: "w1",
  id: sessionId,
  relation: "none",
  workspaceRole: undefined,
  deleted: false,
  ended: undefined,
  guestAccess: "open",
  deviceId: device.id,
  startedAt: 0,
  elevatedUntil: undefined,
};

const unused = (): never => {
  throw new Error("not asked for here");
};

describe("upload-audio", () => {
  let folder: string;
  let file: Upload;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "upload-audio-"));
    const bytes = makeWav({ frames: 160 });
    const path = join(folder, "upload");
    writeFileSync(path, bytes);
    file = {
      content: { kind: "file", path },
      bytes: bytes.length,
      sha256: "ab".repeat(32),
      mediaType: "audio/wav",
      filename: "a.wav",
      fields: { chunk_sequence: "0" },
    };
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The steps that an upload takes until `store` throws. */
  async function failing(error: AppError): Promise<{ code: string; steps: string[] }> {
    const steps: string[] = [];
    const blobs: BlobStore = {
      put: async () => {
        steps.push("put");
        return { path: "" };
      },
      putBytes: unused,
      read: unused,
      delete: async () => {
        steps.push("delete");
      },
    };
    const chunks: ChunkStore = {
      find: async () => undefined,
      partBefore: unused,
      store: async () => {
        steps.push("store");
        throw error;
      },
    };
    const routes = uploadAudioRoutes({
      directory: {
        facts: async () => facts,
        recordContentRead: unused,
      },
      chunks,
      blobs,
      notifier: { notify: unused },
      mending: NO_MENDING,
      tenants: { ofSession: async () => "account" },
      sounds: { measure: unused, starts: unused },
      converter: { convert: unused, isAvailable: false },
      backlog: { check: () => {} },
    });
    const params = { session_id: sessionId };
    const work = callRoute(routes, "uploadAudio", { principal: device, params, upload: file });
    return { code: await codeOf(work), steps };
  }

  it.each([
    ["2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.500Z"],
    ["2024-02-29T23:59:59+05:30", "2024-02-29T18:29:59.000Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["2026-01-31t12:00:00z", "2026-01-31T12:00:00.000Z"],
  ])("upload-audio: started_at %s is taken as %s", (text, told) => {
    expect(new Date(readStartedAt(text) ?? 0).toISOString()).toBe(told);
  });

  it.each([
    "2026-02-30T11:00:00Z",
    "2025-02-29T11:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T12:60:00Z",
    "2026-01-31T12:00:61Z",
    "2026-01-31T12:00:00",
    "2026-01-31T12:00:00+24:00",
  ])("upload-audio: started_at %s is refused, as no calendar or clock has it", (text) => {
    expect(() => readStartedAt(text)).toThrow("started_at must be an RFC 3339 time.");
  });

  it("upload-audio: audio that a deletion overtook is removed again", async () => {
    const answer = await failing(new AppError("session_deleted", "gone"));
    expect(answer).toEqual({ code: "session_deleted", steps: ["put", "store", "delete"] });
  });

  it("upload-audio: audio stays when the outcome of its row is unknown", async () => {
    const answer = await failing(new AppError("unavailable", "away"));
    expect(answer).toEqual({ code: "unavailable", steps: ["put", "store"] });
  });

  it("upload-audio: a file sent again is known by its bytes, whatever decodes it meanwhile", async () => {
    const data = soundBytes("mono.m4a");
    const sent: Upload = {
      ...{ content: { kind: "memory", data }, bytes: data.byteLength, sha256: "cd".repeat(32) },
      ...{ mediaType: "audio/mp4", filename: "a\u202e4m\n.m4a", fields: { chunk_sequence: "0" } },
    };
    let stored: NewChunk | undefined;
    let frames = 16_000;
    const routes = uploadAudioRoutes({
      directory: { facts: async () => facts, recordContentRead: unused },
      tenants: { ofSession: async () => "account" },
      chunks: {
        find: async (_session, sequence, sha256) => {
          if (stored === undefined) return undefined;
          if (stored.sha256 !== sha256) throw new AppError("chunk_conflict", "Other bytes.");
          return { id: stored.id, sequence, status: "pending", durationSeconds: 1 };
        },
        partBefore: async () => ({ kind: "other" }),
        store: async (chunk) => {
          stored = chunk;
          const { id, sequence, durationSeconds } = chunk;
          const known = { id, sequence, status: "pending" as const, durationSeconds };
          return { chunk: known, created: true, outbox: [] };
        },
      },
      blobs: { put: async () => ({ path: "" }), putBytes: unused, read: unused, delete: unused },
      notifier: { notify: () => {} },
      mending: NO_MENDING,
      sounds: { measure: unused, starts: async () => [] },
      converter: {
        // Another decoder, or another release of one, gives other samples.
        convert: async () => {
          frames += 1;
          const path = join(folder, newId());
          const bytes = makeWav({ frames });
          writeFileSync(path, bytes);
          return { path, bytes: bytes.byteLength, sampleRate: 16_000, channels: 1, frames };
        },
        isAvailable: true,
      },
      backlog: { check: () => {} },
    });
    const send = () =>
      callRoute(routes, "uploadAudio", {
        ...{ principal: device, params: { session_id: sessionId }, upload: sent },
      });
    expect((await send()).status).toBe(201);
    expect((await send()).status).toBe(200);
    expect(stored?.filename).toBe("a4m .m4a");
  });

  it("upload-audio: the sequence comes from the form, else from the header", () => {
    expect(readSequence({ chunk_sequence: "7" }, { "x-chunk-sequence": "8" })).toBe(7);
    expect(readSequence({}, { "x-chunk-sequence": " 8 " })).toBe(8);
    expect(() => readSequence({}, {})).toThrow("chunk_sequence is missing");
    expect(() => readSequence({ chunk_sequence: "0x1" }, {})).toThrow("whole number");
  });
});
