import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../support/paired-device.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner } from "../support/workspace-owner.ts";

const MEBIBYTE = 1024 * 1024;
const SIZE = 2_048 * MEBIBYTE;
const CUTS = 20;
const RATE = 48_000;
const CHANNELS = 2;
const HEADER = 44;
const PIECE = 64 * MEBIBYTE;
const LONGEST_MS = 45 * 60_000;
const POLL_MS = 200;
/** Much less than the file, and more than garbage that waits for its collection. */
const GROWTH_MEBIBYTES = 128;
/** A quarter of the file: eight pieces, which are read while others are cut. */
const HELD_MEBIBYTES = 512;

describe("a large file", () => {
  let service: WholeService;
  beforeAll(async () => {
    service = await WholeService.start({ RATE_LIMIT_FACTOR: "0" });
  });
  afterAll(() => service?.stop());

  it(
    "uploads: two gigabytes that are cut 20 times arrive bit by bit the same, in memory that stays flat",
    async () => {
      const owner = await newOwner(service);
      const { body: made } = await call<{ key: string }>(service.api, "POST", "/api-keys", {
        token: owner.token,
        body: {
          ...{ workspace_id: owner.workspaceId, name: "Program" },
          scopes: ["sessions:read", "sessions:write", "export"],
        },
      });
      const { key } = made;
      const { body: session } = await call<{ id: string }>(service.api, "POST", "/sessions", {
        key,
        body: {},
      });
      const path = `/sessions/${session.id}`;
      const coming = new MemoryMeter(service.ready.pids.main);
      await bringInPieces(`${service.api}${path}/uploads`, key);
      const came = coming.end();
      // What cuts the whole file into pieces holds some of them, however many there are.
      const cutting = new MemoryMeter(service.ready.pids.main);
      await until(
        async () => {
          const { body } = await call<{ items: { status: string }[] }>(
            ...([service.api, "GET", `${path}/uploads`, { key }] as const),
          );
          return body.items[0]?.status === "stored";
        },
        "the file to be stored",
        LONGEST_MS,
      );
      const cut = cutting.end();
      expect(came.last - came.first).toBeLessThan(GROWTH_MEBIBYTES);
      // In the first quarter it is hashed, and no piece is there yet.
      expect(cut.last - cut.second).toBeLessThan(GROWTH_MEBIBYTES);
      expect(cut.most - came.most).toBeLessThan(HELD_MEBIBYTES);
      expect(storedPieces(session.id).toSorted()).toEqual(sentPieces().toSorted());
      expect((await call(service.api, "DELETE", path, { key })).status).toBe(200);
    },
    LONGEST_MS,
  );

  /** By tus: each request but the last one is broken off somewhere, and the next one goes on. */
  async function bringInPieces(address: string, key: string): Promise<void> {
    const tus = { "X-API-Key": key, "Tus-Resumable": "1.0.0" };
    const made = await fetch(address, {
      method: "POST",
      headers: { ...tus, "Upload-Length": String(SIZE) },
    });
    const url = new URL(made.headers.get("location") ?? "", service.ready.base_url);
    const random = new SeededRandom(38);
    let offset = 0;
    for (let cut = 0; cut < CUTS; cut += 1) {
      const rest = (SIZE - offset) / (CUTS - cut + 1);
      const end = offset + Math.floor(rest * (0.5 + random.next()));
      await expect(bring(url, tus, offset, end)).rejects.toThrow("Cut.");
      const before = offset;
      await until(async () => {
        offset = await offsetOf(url, tus);
        // What came before the break is written to its end first.
        return offset > before && (await isFree(url, tus, offset));
      }, "the bytes that came");
      expect(offset).toBeLessThan(SIZE);
    }
    await bring(url, tus, offset, undefined);
  }

  /** The digests of the stored files: pieces of bare samples, as a download is 16 kHz and mono. */
  function storedPieces(sessionId: string): string[] {
    const folder = join(service.folder, "data/blobs", sessionId);
    const files = readdirSync(folder).map((name) => join(folder, name));
    return files.map((file) => digestOf([readFileSync(file)]));
  }
});

/** Looks at the memory of a process again and again. */
class MemoryMeter {
  readonly #seen: number[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#timer = setInterval(() => this.#seen.push(residentMebibytes(pid)), POLL_MS);
  }

  /**
   * The most that it had, and what it had in the middle of the first, second and last quarter of the
   * time, MiB: pieces that wait for garbage collection come and go.
   */
  end(): Record<"most" | "first" | "second" | "last", number> {
    clearInterval(this.#timer);
    const quarter = Math.ceil(this.#seen.length / 4);
    const usual = (from: number, to?: number): number => {
      const sorted = this.#seen.slice(from, to).toSorted((one, other) => one - other);
      return sorted[Math.floor(sorted.length / 2)] ?? 0;
    };
    return {
      most: Math.max(...this.#seen),
      first: usual(0, quarter),
      second: usual(quarter, 2 * quarter),
      last: usual(-quarter),
    };
  }
}

function residentMebibytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
}

/** The digests of the sound's pieces of 64 MiB: a worker takes no more as one message. */
function sentPieces(): string[] {
  const digests: string[] = [];
  let [hash, room] = [createHash("sha256"), PIECE];
  for (const block of sentSound()) {
    const first = block.subarray(0, room);
    hash.update(first);
    room -= first.byteLength;
    if (room > 0) continue;
    digests.push(hash.digest("hex"));
    [hash, room] = [createHash("sha256"), PIECE - (block.byteLength - first.byteLength)];
    hash.update(block.subarray(first.byteLength));
  }
  return room < PIECE ? [...digests, hash.digest("hex")] : digests;
}

type Headers = Readonly<Record<string, string>>;

async function offsetOf(url: URL, headers: Headers): Promise<number> {
  const head = await fetch(url, { method: "HEAD", headers });
  return Number(head.headers.get("upload-offset"));
}

const patchHeaders = (headers: Headers, offset: number) => ({
  ...headers,
  "Content-Type": "application/offset+octet-stream",
  "Upload-Offset": String(offset),
});

async function isFree(url: URL, headers: Headers, offset: number): Promise<boolean> {
  const body = new Uint8Array(0);
  const asked = { method: "PATCH", headers: patchHeaders(headers, offset), body };
  return (await fetch(url, asked)).status === 204;
}

/** Resolves when the file is whole and durable; rejects when it broke the request off at a byte. */
async function bring(
  url: URL,
  headers: Headers,
  offset: number,
  cutAt: number | undefined,
): Promise<void> {
  const length = { "Content-Length": String(SIZE - offset) };
  const patch = request(url, {
    method: "PATCH",
    headers: { ...patchHeaders(headers, offset), ...length },
  });
  const status = new Promise<number>((resolve, reject) => {
    patch.on("response", (response) => resolve(response.resume().statusCode ?? 0));
    patch.on("error", reject);
  });
  status.catch(() => {});
  await pipeline(Readable.from(bytesFrom(offset, cutAt)), patch);
  expect(await status).toBe(204);
}

/** The file's bytes; breaks off at `cutAt`. */
function* bytesFrom(offset: number, cutAt = Number.POSITIVE_INFINITY): Generator<Buffer> {
  for (let at = offset; at < SIZE; ) {
    const block = blockAt(Math.floor(at / MEBIBYTE)).subarray(at % MEBIBYTE);
    yield block.subarray(0, Math.min(block.byteLength, cutAt - at));
    at += block.byteLength;
    if (at >= cutAt) throw new Error("Cut.");
  }
}

function* sentSound(): Generator<Buffer> {
  yield blockAt(0).subarray(HEADER);
  for (let n = 1; n < SIZE / MEBIBYTE; n += 1) yield blockAt(n);
}

/** Sound that is nearly silence, so that nothing is recognised in it; each block says which it is. */
function blockAt(n: number): Buffer {
  const block = Buffer.alloc(MEBIBYTE);
  for (let at = 0; at < MEBIBYTE; at += 64) block[at] = (at / 64 + n) % 3;
  for (let digit = 0; digit < 4; digit += 1) block[64 + 2 * digit] = (n >> (4 * digit)) & 15;
  if (n === 0) wavHeader().copy(block);
  return block;
}

function wavHeader(): Buffer {
  const header = Buffer.alloc(HEADER);
  header.write("RIFF", 0);
  header.writeUInt32LE(SIZE - 8, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(CHANNELS, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(RATE * CHANNELS * 2, 28);
  header.writeUInt16LE(CHANNELS * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(SIZE - HEADER, 40);
  return header;
}

function digestOf(blocks: Iterable<Buffer>): string {
  const hash = createHash("sha256");
  for (const block of blocks) hash.update(block);
  return hash.digest("hex");
}
