import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { cut, PairedDevice } from "../support/paired-device.ts";
import { Viewer } from "../support/viewer.ts";
import { type PartName, WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const KILLS = new Map<number, PartName>([
  [4, "worker"],
  [8, "main"],
  [12, "nats"],
  [16, "postgres"],
]);

describe("faults", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
  });
  afterAll(() => service.healthy());

  async function record(kills: ReadonlyMap<number, PartName>): Promise<PairedDevice> {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const chunks = cut(2);
    for (const [sequence, pcm] of chunks.entries()) {
      const part = kills.get(sequence);
      const pid = part === undefined ? 0 : service.kill(part);
      const { status } = await device.upload(sequence, pcm);
      expect([200, 201]).toContain(status);
      if (part !== undefined) await service.replaced(part, pid);
    }
    await device.stop(chunks.length - 1);
    await device.completed();
    return device;
  }

  it("faults: killing every part mid-session changes no word, label or chunk", async () => {
    const calm = await record(new Map());
    const shaken = await record(KILLS);
    expect(await shaken.said()).toEqual(await calm.said());
    const stored = await shaken.chunks();
    expect(stored.map((chunk) => chunk.chunk_sequence)).toEqual(cut(2).map((_, n) => n));
    expect(new Set(stored.map((chunk) => chunk.chunk_id)).size).toBe(stored.length);
    expect(stored.every((chunk) => chunk.transcription_status === "completed")).toBe(true);
    const texts = (await calm.chunks()).map((chunk) => chunk.transcription_text);
    expect(stored.map((chunk) => chunk.transcription_text)).toEqual(texts);

    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${shaken.token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: shaken.sessionId });
    const newest = (await viewer.received("Snapshot")).seq ?? 0;
    expect(newest).toBeGreaterThan(stored.length * 3);
    viewer.send({ type: "Subscribe", session_id: shaken.sessionId, from_seq: 0 });
    await viewer.reached(newest);
    expect(viewer.seqs()).toEqual(Array.from({ length: newest }, (_, n) => n + 1));
    viewer.socket.close();
  });
});
