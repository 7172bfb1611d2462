import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PARTITIONS } from "../../src/base/partition.ts";
import { ownedPartitions } from "../support/owned-partitions.ts";
import { cut, PairedDevice } from "../support/paired-device.ts";
import { SecondHost } from "../support/second-host.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

/** Enough that both hosts have some: all on one has a chance of 1 in 32. */
const SESSIONS = 6;

describe("two hosts", () => {
  let service: WholeService;
  let second: SecondHost;
  beforeAll(async () => {
    service = await WholeService.start();
    second = await SecondHost.start(service);
  });
  afterAll(async () => {
    await second?.end("SIGKILL");
    await service?.stop();
  });

  const first = () => ownedPartitions(service.ready.ops_url);

  it("two hosts: they share the partitions, and the one that is left takes them all", async () => {
    await until(
      async () => (await first()) === PARTITIONS / 2 && (await second.owned()) === PARTITIONS / 2,
      "both to own half",
      30_000,
    );
    const chunks = cut(2).slice(0, 5);
    const devices = await Promise.all(
      Array.from({ length: SESSIONS }, () => PairedDevice.pair(service)),
    );
    await Promise.all(devices.map((device) => device.start()));
    const half = Math.ceil(chunks.length / 2);
    const send = async (device: PairedDevice, from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n += 1) await device.upload(n, chunks[n] as Buffer);
    };
    await Promise.all(devices.map((device) => send(device, 0, half)));
    await second.end("SIGKILL");
    await Promise.all(devices.map((device) => send(device, half, chunks.length)));
    await Promise.all(devices.map((device) => device.stop(chunks.length - 1)));
    await until(async () => (await first()) === PARTITIONS, "one to own all", 30_000);
    await Promise.all(devices.map((device) => device.completed()));
    const texts = await Promise.all(devices.map((device) => device.said()));
    expect(texts[0]?.length).toBeGreaterThan(1);
    for (const text of texts) expect(text).toEqual(texts[0]);
  });
});
