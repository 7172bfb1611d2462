import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { PairedDevice, scriptedChunks } from "../support/paired-device.ts";
import { until } from "../support/until.ts";

interface Completeness {
  complete: boolean;
  missing: { reason: string; chunk_sequences: number[]; start_ms: number; end_ms: number }[];
}

function flip(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

describe("damaged sound", () => {
  let service: AppFixture;
  beforeAll(async () => {
    service = await AppFixture.start();
  });
  afterAll(() => service?.stop());

  /** A session whose chunk 2 is spoilt before anything of it can be read, as 0 has not come yet. */
  async function record(spoil: (path: string) => void): Promise<PairedDevice> {
    const device = await PairedDevice.pair(service);
    await device.start();
    const chunks = scriptedChunks(5).slice(0, 6);
    for (const [sequence, pcm] of chunks.entries()) {
      if (sequence > 0) await device.upload(sequence, pcm);
    }
    const folder = join(service.folder, "data/blobs", device.sessionId);
    const name = createHash("sha256")
      .update(chunks[2] ?? "")
      .digest("hex");
    expect(readdirSync(folder)).toContain(name);
    spoil(join(folder, name));
    await device.upload(0, chunks[0] ?? Buffer.alloc(0));
    await device.stop(chunks.length - 1);
    await device.completed();
    return device;
  }

  async function expectLoss(device: PairedDevice): Promise<void> {
    const { body } = await device.get<Completeness>("/completeness");
    expect(body.complete).toBe(false);
    expect(body.missing).toMatchObject([
      { reason: "damaged", chunk_sequences: [2], start_ms: 10_000, end_ms: 15_000 },
    ]);
    const states = (await device.chunks()).map((chunk) => chunk.transcription_status);
    expect(states).toEqual([
      ...["completed", "completed", "failed"],
      ...["completed", "completed", "completed"],
    ]);
    const said = (await device.said()).join(" ");
    expect(said).toContain("launch of the new system");
    expect(said).not.toContain("very good news");
    expect(said).toContain("customers");
  }

  it("damaged sound: a file that is gone is a stretch that is missing, and the session ends", async () => {
    await expectLoss(await record((path) => rmSync(path)));
  });

  it.each([
    ["cut in half", (path: string) => truncateSync(path, readFileSync(path).length / 2)],
    ["emptied", (path: string) => truncateSync(path, 0)],
    ["with one bit flipped", flip],
  ])("damaged sound: so is one %s", async (_name, spoil) => {
    await expectLoss(await record(spoil));
  });

  it("damaged sound: sent again it is read, and nothing is missing any more", async () => {
    const device = await record(flip);
    await device.upload(2, scriptedChunks(5)[2] ?? Buffer.alloc(0));
    await until(
      async () => (await device.get<Completeness>("/completeness")).body.complete,
      "the stretch to be read again",
      60_000,
    );
    const said = (await device.said()).join(" ");
    for (const words of ["launch of the new system", "very good news", "customers"]) {
      expect(said).toContain(words);
    }
    const states = (await device.chunks()).map((chunk) => chunk.transcription_status);
    expect(new Set(states)).toEqual(new Set(["completed"]));
  });

  it("damaged sound: so is one that cannot be read", async () => {
    const device = await record((path) => {
      rmSync(path);
      mkdirSync(path);
    });
    await expectLoss(device);
  });
});
