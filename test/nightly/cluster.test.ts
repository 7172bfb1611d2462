import { connect } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import { cut, PairedDevice } from "../support/paired-device.ts";
import { environmentOf } from "../support/service-cluster.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { type PartName, WholeService } from "../support/whole-service.ts";

const KILLS = new Map<number, PartName>([
  [2, "nats-1"],
  [4, "worker-1"],
  [6, "sessions-1"],
  [8, "front-1"],
  [10, "sessions-2"],
]);

describe("cluster", () => {
  let service: WholeService;
  beforeAll(async () => {
    service = await WholeService.start({ VOICE_CLUSTER: "1" });
  });
  afterAll(() => service?.stop());

  const chunks = cut(2).slice(0, 13);
  /** Through the first front; each killed part may still be away when the next chunk comes. */
  async function record(kills: ReadonlyMap<number, PartName>): Promise<PairedDevice> {
    const device = await PairedDevice.pair(service);
    await device.start();
    const back: Promise<void>[] = [];
    for (const [sequence, pcm] of chunks.entries()) {
      const part = kills.get(sequence);
      if (part !== undefined) back.push(service.replaced(part, service.kill(part)));
      expect([200, 201]).toContain((await device.upload(sequence, pcm)).status);
    }
    await Promise.all(back);
    return device;
  }

  async function follow(device: PairedDevice): Promise<Viewer> {
    const live = service.ready.fronts[1]?.live_url ?? "";
    const viewer = new Viewer(live, { authorization: `Bearer ${device.token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId, from_seq: 0 });
    return viewer;
  }

  it("cluster: workers and nats-servers speak to nobody without a certificate", async () => {
    const env = environmentOf(service.ready.pids["front-1"] ?? 0);
    const { NATS_URL: url = "", NATS_USER: user, NATS_PASSWORD: password } = env;
    const [server = ""] = url.split(",");
    const inClear = connect({ servers: server, ...(user && { user, pass: password ?? "" }) });
    await expect(inClear).rejects.toThrow();
    const client = new WorkerClient();
    const { WORKER_PORT: port } = environmentOf(service.ready.pids["worker-1"] ?? 0);
    const worker = `127.0.0.1:${port}`;
    const settings = { key: env.WORKER_KEY };
    await expect(client.describe(worker, 10_000, settings)).rejects.toThrow();
    client.close();
    const { TLS_CA: ca, TLS_CERT: cert = "", TLS_KEY: key = "" } = env;
    const known = new WorkerClient({ tls: { ca, cert, key } });
    expect((await known.describe(worker, 10_000, settings)).capacity).toBeGreaterThan(0);
    known.close();
  });

  it("cluster: one of each killed mid-session changes nothing; the other front shows it all", async () => {
    await service.balanced(60_000);
    const calm = await record(new Map());
    const shaken = await record(KILLS);
    const viewer = await follow(shaken);
    for (const device of [calm, shaken]) await device.stop(chunks.length - 1);
    for (const device of [calm, shaken]) await device.completed();
    expect(await shaken.said()).toEqual(await calm.said());
    expect((await shaken.said()).length).toBeGreaterThan(1);
    const stored = await shaken.chunks();
    expect(stored.map(({ chunk_sequence }) => chunk_sequence)).toEqual(chunks.map((_, n) => n));
    expect(stored.every((chunk) => chunk.transcription_status === "completed")).toBe(true);
    await until(() => viewer.frames.some(isCompletion), "the end of the session", 30_000);
    const seqs = viewer.seqs();
    expect(seqs).toEqual(seqs.map((_, n) => n + 1));
    viewer.socket.close();
    await service.balanced(60_000);
    // Two for each start of a host and a few for each kill; one that never rests makes hundreds.
  });
});

function isCompletion(frame: { type: string; status?: unknown }): boolean {
  return frame.type === "SessionStatus" && frame.status === "completed";
}
