import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { PairedDevice, scriptedChunks } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

/** What each speaker said until another one did, however it was cut. */
function turns(said: readonly string[]): string[] {
  const all: string[] = [];
  for (const segment of said) {
    const label = segment.slice(0, segment.indexOf(": "));
    const last = all.at(-1);
    if (last?.startsWith(`${label}: `))
      all[all.length - 1] = last + segment.slice(label.length + 1);
    else all.push(segment);
  }
  return all;
}

describe("chunks", () => {
  let service: AppFixture;
  let owner: WorkspaceOwner;
  let undisturbed: string[];
  beforeAll(async () => {
    service = await AppFixture.shared({ LATE_DEVICE_SILENCE_MS: "2000" });
    owner = await newOwner(service);
    undisturbed = await (await record(2)).said();
  });

  async function record(seconds: number, order?: (count: number) => number[]) {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const chunks = scriptedChunks(seconds);
    for (const sequence of order?.(chunks.length) ?? chunks.keys()) {
      const pcm = chunks[sequence];
      if (pcm === undefined) continue;
      expect((await device.upload(sequence, pcm)).status).toBe(201);
    }
    await device.stop(chunks.length - 1);
    await device.completed();
    return device;
  }

  it("chunks: cuts of half a second change no word", async () => {
    expect(await (await record(0.5)).said()).toEqual(undisturbed);
  });

  it("chunks: out of order they end up in order", async () => {
    const swapped = (count: number) =>
      Array.from({ length: count + 1 }, (_, n) => n ^ 1).filter((n) => n < count);
    expect(await (await record(2, swapped)).said()).toEqual(undisturbed);
  });

  it("chunks: the same bytes twice are stored once, other bytes are refused", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const [first, second] = scriptedChunks(1) as [Buffer, Buffer];
    const stored = await device.upload(0, first);
    const again = await device.upload(0, first);
    expect([stored.status, again.status]).toEqual([201, 200]);
    expect(again.body.chunk_id).toBe(stored.body.chunk_id);
    expect((await device.upload(0, second)).status).toBe(409);
    expect(await device.chunks()).toHaveLength(1);
    await device.stop(0);
  });

  it("chunks: two of equal silence are two", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const silence = Buffer.alloc(32_000);
    for (const sequence of [0, 1]) {
      expect((await device.upload(sequence, silence)).status).toBe(201);
    }
    await device.stop(1);
    await device.completed();
    expect(await device.chunks()).toHaveLength(2);
    expect(await device.said()).toEqual([]);
  });

  it("chunks: a missing one becomes a gap, and its late audio replaces its part", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const chunks = scriptedChunks(2);
    const missing = 5;
    for (const [sequence, pcm] of chunks.entries()) {
      if (sequence !== missing) await device.upload(sequence, pcm);
    }
    await device.stop(chunks.length - 1);
    await device.completed();
    const before = await device.get<{ gaps: { chunk_sequence: number }[] }>(
      "/transcript?format=json",
    );
    expect(before.body.gaps.map((gap) => gap.chunk_sequence)).toEqual([missing]);
    expect(await device.said()).not.toEqual(undisturbed);
    const late = chunks[missing] as Buffer;
    expect((await device.upload(missing, late)).status).toBe(201);
    // Behind it the text of the first reading stands, which may have heard other pauses.
    await until(
      async () => turns(await device.said()).join("\n") === turns(undisturbed).join("\n"),
      "the part to be read again",
      60_000,
    );
    const after = await device.get<{ gaps: unknown[] }>("/transcript?format=json");
    expect(after.body.gaps).toEqual([]);
  });
});
