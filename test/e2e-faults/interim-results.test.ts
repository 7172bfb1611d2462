import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;

describe("interim results", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
  });
  afterAll(() => service.healthy());

  const shown = (viewer: Viewer) =>
    until(() => resultsOf(viewer, false).length > 0, "a hypothesis", 60_000);

  async function follow(device: PairedDevice): Promise<Viewer> {
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${device.token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId, from_seq: 0 });
    return viewer;
  }

  const resultsOf = ({ frames }: Viewer, isFinal: boolean) =>
    frames.filter((frame) => frame.type === "Results" && frame.is_final === isFinal);

  /** One connection; each part comes when the one before is stored. */
  async function stream(
    device: PairedDevice,
    interim: boolean | undefined,
    parts: Buffer[],
    beforeClose = async () => {},
  ): Promise<void> {
    const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
    const socket = await new Viewer(url, { "x-api-key": device.key }).opened();
    const wanted = interim === undefined ? {} : { interim_results: interim };
    socket.send({ type: "Configure", session_id: device.sessionId, ...PCM, ...wanted });
    let offset = Number((await socket.received("Begin")).audio_offset_bytes);
    for (const part of parts) {
      socket.socket.send(part);
      offset += part.byteLength;
      const isStored = () => socket.frames.some((frame) => frame.audio_offset_bytes === offset);
      await until(isStored, "the part to be stored", 30_000);
    }
    await beforeClose();
    socket.send({ type: "CloseStream" });
    expect(await socket.closed()).toBe(1000);
  }

  it("interim results: a device that wants none spares its viewers all of them, whatever happens", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const parts = cut(0.4);
    const before = await follow(device);
    await stream(device, false, parts.slice(0, 20));
    await stream(device, false, parts.slice(20, 30));
    await until(() => resultsOf(before, true).length > 1, "finals of the stream", 60_000);
    const next = (await device.chunks()).length;
    // Another process takes the session over, and the device goes on with uploads.
    await service.replaced("main", service.kill("main"));
    const after = await follow(device);
    const finals = (await device.segments()).length;
    for (const [index, part] of parts.slice(30, 60).entries()) {
      await device.upload(next + index, part);
    }
    await device.stop(next + 29);
    await device.completed();
    await until(() => resultsOf(after, true).length > finals, "finals of the uploads", 60_000);
    for (const viewer of [before, after]) {
      expect(resultsOf(viewer, false)).toEqual([]);
      viewer.socket.close();
    }
  });

  it.each([[true], [undefined]])("interim results: wanted (%s), they come", async (interim) => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const viewer = await follow(device);
    // In the middle of a sentence: what was said of it so far is shown once it is read.
    await stream(device, interim, cut(2.5).slice(0, 1), () => shown(viewer));
    viewer.socket.close();
  });

  it("interim results: the newest connection decides", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const viewer = await follow(device);
    const finals = () => until(() => resultsOf(viewer, true).length > 1, "two finals", 60_000);
    await stream(device, false, cut(8).slice(0, 1), finals);
    expect(resultsOf(viewer, false)).toEqual([]);
    await stream(device, true, cut(2.5).slice(0, 1), () => shown(viewer));
    viewer.socket.close();
  });
});
