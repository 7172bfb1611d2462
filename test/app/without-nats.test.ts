import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { cut, PairedDevice } from "../support/paired-device.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until as waitUntil } from "../support/until.ts";
import { newOwner } from "../support/workspace-owner.ts";

const POLL_MS = 250;
const chunks = cut(2, scriptedPcm().subarray(0, 8 * 32_000));

let nats: TestNats;
let service: AppFixture;
beforeAll(async () => {
  nats = await startNats();
  await nats.kill9();
  service = await AppFixture.start({}, async () => nats);
});
afterAll(() => service?.stop());

function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  return waitUntil(() => delay(POLL_MS).then(condition), what, 240_000);
}

async function health(): Promise<{ status: string; checks: Record<string, { status: string }> }> {
  const answer = await fetch(`${service.api}/health`);
  expect(answer.status).toBe(200);
  return answer.json() as never;
}

it("started while NATS is away: audio is taken, what is missing is said, and it heals by itself", async () => {
  expect(await health()).toMatchObject({ checks: { nats: { status: "degraded" } } });
  const log = await service.log("main");
  expect(log.map(({ msg }) => msg)).toContain(
    "NATS cannot be reached; starting without it, and trying on",
  );
  const owner = await newOwner(service, "admin");
  const device = await PairedDevice.pair(service, owner);
  await device.start();
  for (const [sequence, chunk] of chunks.entries()) {
    expect((await device.upload(sequence, chunk)).status).toBe(201);
  }
  await nats.restart();
  await until(async () => (await health()).checks.nats?.status === "ok", "NATS in health");
  await device.stop(chunks.length - 1);
  await until(
    async () => (await device.get<{ status: string }>("")).body.status === "completed",
    "the words",
  );
  expect(await device.segments()).not.toEqual([]);
});
