import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { follow, resultsOf, streamParts } from "../support/interim-stream.ts";
import { cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

describe("interim results", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
  });
  afterAll(() => service.healthy());

  it("interim results: a device that wants none spares its viewers all of them, whatever happens", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const parts = cut(0.4);
    const before = await follow(device);
    await streamParts(device, false, parts.slice(0, 20));
    await streamParts(device, false, parts.slice(20, 30));
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
});
