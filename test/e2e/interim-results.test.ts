import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AudioSender } from "../../src/cli/audio-sender.ts";
import { cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";

const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;

describe("interim results", () => {
  let service: WholeService;
  beforeAll(async () => {
    service = await WholeService.start();
  });
  afterAll(() => service?.stop());

  function streamTo(device: PairedDevice, interim: boolean | undefined): AudioSender {
    const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
    const wanted = interim === undefined ? {} : { interim_results: interim };
    const configuration = { session_id: device.sessionId, ...PCM, ...wanted };
    const { signal } = new AbortController();
    return new AudioSender({ url, key: device.key, configuration, signal, onStored: () => {} });
  }

  async function follow(device: PairedDevice): Promise<Viewer> {
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${device.token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId, from_seq: 0 });
    return viewer;
  }

  const resultsOf = ({ frames }: Viewer, isFinal: boolean) =>
    frames.filter((frame) => frame.type === "Results" && frame.is_final === isFinal);

  async function stream(device: PairedDevice, interim: boolean | undefined, parts: Buffer[]) {
    const sender = streamTo(device, interim);
    const done = sender.run();
    for (const part of parts) sender.push(part);
    sender.end();
    await done;
  }

  /** Streams, resumes, loses its host, goes on with uploads: viewers of both halves. */
  async function record(
    interim: boolean | undefined,
  ): Promise<{ device: PairedDevice; viewers: Viewer[] }> {
    const device = await PairedDevice.pair(service);
    await device.start();
    const parts = cut(3);
    const before = await follow(device);
    await stream(device, interim, parts.slice(0, 2));
    await stream(device, interim, parts.slice(2, 4));
    await until(() => resultsOf(before, true).length > 1, "finals of the stream", 60_000);
    const next = (await device.chunks()).length;
    await service.replaced("main", service.kill("main"));
    const after = await follow(device);
    const finals = (await device.segments()).length;
    for (const [index, part] of parts.slice(4, 8).entries()) {
      await device.upload(next + index, part);
    }
    await device.stop(next + 3);
    await device.completed();
    await until(() => resultsOf(after, true).length > finals, "finals of the uploads", 60_000);
    return { device, viewers: [before, after] };
  }

  it("interim results: a device that wants none spares its viewers all of them, whatever happens", async () => {
    const { device, viewers } = await record(false);
    expect(viewers.flatMap((viewer) => resultsOf(viewer, false))).toEqual([]);
    expect((await device.said()).length).toBeGreaterThan(2);
    for (const viewer of viewers) viewer.socket.close();
  });

  it.each([[true], [undefined]])("interim results: wanted (%s), they come", async (interim) => {
    const { viewers } = await record(interim);
    for (const viewer of viewers) {
      expect(resultsOf(viewer, false).length).toBeGreaterThan(0);
      viewer.socket.close();
    }
  });

  it("interim results: the newest connection decides", async () => {
    const device = await PairedDevice.pair(service);
    await device.start();
    const parts = cut(3);
    const viewer = await follow(device);
    await stream(device, false, parts.slice(0, 3));
    await until(() => resultsOf(viewer, true).length > 1, "finals of the first", 60_000);
    expect(resultsOf(viewer, false)).toEqual([]);
    await stream(device, true, parts.slice(3, 6));
    await until(() => resultsOf(viewer, false).length > 0, "hypotheses of the second", 60_000);
    await device.stop(-1);
    await device.completed();
    viewer.socket.close();
  });
});
