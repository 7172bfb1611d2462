import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDeferred } from "../../../../src/base/deferred.ts";
import { AppError } from "../../../../src/base/errors.ts";
import { newId } from "../../../../src/base/ids.ts";
import type { ReadableUpload } from "../../../../src/conversations/recording/readable-upload.ts";
import { WholeFiles } from "../../../../src/conversations/recording/whole-files.ts";
import { makeWav } from "../../../support/make-wav.ts";
import { NO_MENDING } from "../../../support/verified-audio.ts";

type Options = ConstructorParameters<typeof WholeFiles>[0];

const RATE = 16_000;
const unasked = () => Promise.reject(new Error("Not asked for."));

describe("limits of cutting whole files", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "cut-limits-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Cuts into parts of half a second. */
  function filesOf(change: { put?: () => Promise<void>; assertRoom?: () => Promise<void> } = {}) {
    const stored: number[] = [];
    const { put = async () => {}, assertRoom = async () => {} } = change;
    const options: Options = {
      ...{ folder, partSeconds: 0.5, maxSeconds: 0, assertRoom, mending: NO_MENDING },
      sounds: { measure: unasked, starts: unasked },
      converter: { convert: unasked, isAvailable: false },
      ...{ backlog: { check: () => {} }, notifier: { notify: () => {} } },
      blobs: {
        put: async (_session, _sha256, path) => {
          await put();
          return { path };
        },
        ...{ putBytes: unasked, read: unasked, delete: unasked },
      },
      chunks: {
        find: async () => undefined,
        partBefore: unasked,
        store: async ({ id, sequence, durationSeconds }) => {
          stored.push(sequence);
          const chunk = { id, sequence, durationSeconds, status: "pending" as const };
          return { created: true, outbox: [], chunk };
        },
      },
    };
    return { stored, files: new WholeFiles(options) };
  }

  /** Two seconds of sound. */
  function recording(durationSeconds = 2): ReadableUpload {
    const path = join(folder, newId());
    const bytes = makeWav({ frames: 2 * RATE });
    writeFileSync(path, bytes);
    const shape = { frames: 2 * RATE, sampleRate: RATE, channels: 1, durationSeconds };
    return {
      upload: { content: { kind: "file", path }, bytes: bytes.byteLength, sha256: "" },
      audio: { mediaType: "audio/wav", ...shape },
      release: async () => {},
    };
  }

  const place = (accountId = "one") => ({ sessionId: newId(), accountId, filename: "talk" });
  const { signal } = new AbortController();
  const folders = () =>
    readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());

  it("a recording of more than twelve hours is refused, and none of it stored", async () => {
    const { stored, files } = filesOf();
    const storing = files.store(place(), recording(12 * 3_600 + 1), signal);
    await expect(storing).rejects.toMatchObject({ code: "payload_too_large" });
    expect(stored).toEqual([]);
  });

  it("an account cuts two at once; a third is refused, another account's is not", async () => {
    const held = createDeferred<void>();
    const { files } = filesOf({ put: () => held.promise });
    const cutting = [0, 1].map(() => files.store(place(), recording(), signal));
    await expect(files.store(place(), recording(), signal)).rejects.toMatchObject({
      code: "rate_limited",
    });
    cutting.push(files.store(place("another"), recording(), signal));
    held.resolve();
    expect(await Promise.all(cutting)).toEqual([3, 3, 3]);
    expect(await files.store(place(), recording(), signal)).toBe(3);
  });

  it("a caller that goes within a part ends the cutting", async () => {
    const { stored, files } = filesOf();
    const gone = new AbortController();
    const storing = files.store(place(), recording(), gone.signal);
    gone.abort();
    await storing.catch(() => {});
    expect(stored).toEqual([]);
    expect(folders()).toEqual([]);
  });

  it("so does one that goes while a part is being stored", async () => {
    const gone = new AbortController();
    const { stored, files } = filesOf({ put: async () => gone.abort() });
    expect(await files.store(place(), recording(), gone.signal)).toBe(0);
    expect(stored).toEqual([0]);
    expect(folders()).toEqual([]);
    expect(files.queues).toMatchObject([{ queue: "long_recordings", length: 0 }]);
  });

  it("each part is judged by what the workspace has by then", async () => {
    let asked = 0;
    const { stored, files } = filesOf({
      assertRoom: async () => {
        asked += 1;
        if (asked === 3) throw new AppError("quota_exceeded", "It is full.");
      },
    });
    const storing = files.store(place(), recording(), signal);
    await expect(storing).rejects.toMatchObject({ code: "quota_exceeded" });
    expect(stored).toEqual([0, 1]);
    expect(folders()).toEqual([]);
  });

  it("so is a short one that was decoded, as a few bytes may hold much", async () => {
    const assertRoom = () => Promise.reject(new AppError("quota_exceeded", "It is full."));
    const { stored, files } = filesOf({ assertRoom });
    const { upload, audio, release } = recording(0);
    const short = { upload, audio, release, isDecoded: true as const };
    await expect(files.store(place(), short, signal)).rejects.toMatchObject({
      code: "quota_exceeded",
    });
    expect(stored).toEqual([]);
  });
});
