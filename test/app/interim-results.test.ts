import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { follow, resultsOf, streamParts } from "../support/interim-stream.ts";
import { PairedDevice, scriptedChunks } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import type { Viewer } from "../support/viewer.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

describe("interim results", () => {
  let service: AppFixture;
  let owner: WorkspaceOwner;
  beforeAll(async () => {
    service = await AppFixture.shared();
    owner = await newOwner(service);
  });

  const shown = (viewer: Viewer) =>
    until(() => resultsOf(viewer, false).length > 0, "a hypothesis", 60_000);

  it.each([[true], [undefined]])("interim results: wanted (%s), they come", async (interim) => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const viewer = await follow(device);
    // In the middle of a sentence: what was said of it so far is shown once it is read.
    await streamParts(device, interim, scriptedChunks(2.5).slice(0, 1), () => shown(viewer));
    // A voice has its label before its first final.
    expect(resultsOf(viewer, false)[0]).toMatchObject({ speaker: "S1" });
    viewer.socket.close();
  });

  it("interim results: the newest connection decides", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const viewer = await follow(device);
    const finals = () => until(() => resultsOf(viewer, true).length > 1, "two finals", 60_000);
    await streamParts(device, false, scriptedChunks(12).slice(0, 1), finals);
    expect(resultsOf(viewer, false)).toEqual([]);
    await streamParts(device, true, scriptedChunks(2.5).slice(0, 1), () => shown(viewer));
    viewer.socket.close();
  });
});
