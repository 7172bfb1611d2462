import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { call, cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { type Frame, Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

interface Overview {
  sessions: { live: { id: string; lag_ms: number; pending_chunks: number }[] };
}

describe("lag", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  let device: PairedDevice;
  let viewer: Viewer;

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service, "admin");
    device = await PairedDevice.pair(service, owner);
    await device.start();
    viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${device.token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId });
  });
  afterAll(async () => {
    viewer?.socket.close();
    await service.healthy();
  });

  /** Of the session, in every place that tells it: the record, the overview, the newest heartbeat. */
  async function lags(): Promise<{ record: number; overview: number; live: number | undefined }> {
    const { body } = await device.get<{ lag_ms: number }>("/completeness");
    const { token } = device;
    const all = await call<Overview>(service.api, "GET", "/admin/overview", { token });
    const [found] = all.body.sessions.live.filter(({ id }) => id === device.sessionId);
    const isBeat = ({ type }: Frame) => type === "Heartbeat";
    const live = viewer.frames.findLast(isBeat)?.lag_ms as number | undefined;
    return { record: body.lag_ms, overview: found?.lag_ms ?? -1, live };
  }

  const none = { record: 0, overview: 0, live: 0 };
  const isNone = async () => JSON.stringify(await lags()) === JSON.stringify(none);

  it("lag: a device that falls silent in mid-sentence is none, wherever one looks", async () => {
    const [first = Buffer.alloc(0)] = cut(4);
    await device.upload(0, first);
    await until(isNone, "no lag anywhere", 60_000);
    // Its last words are still open, which is what used to count.
    expect((await device.chunks()).map((chunk) => chunk.transcription_status)).toEqual([
      "processing",
    ]);
    const beats = viewer.frames.length;
    await until(() => viewer.frames.slice(beats).length >= 2, "more heartbeats", 60_000);
    expect(await lags()).toEqual(none);
  });

  it("lag: without a worker it is the length of what waits, until it was read", async () => {
    const [, second = Buffer.alloc(0)] = cut(4);
    const worker = service.signal("worker", "SIGSTOP");
    await device.upload(1, second);
    await until(async () => ((await lags()).live ?? 0) > 0, "lag in a heartbeat", 60_000);
    const { record, overview, live } = await lags();
    expect([record, overview, live]).toEqual([4_000, 4_000, 4_000]);
    process.kill(worker, "SIGCONT");
    await until(isNone, "no lag anywhere", 120_000);
  });
});
