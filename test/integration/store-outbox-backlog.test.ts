import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { OutboxBacklog } from "../../src/store/outbox-backlog.ts";
import { makeWav } from "../support/make-wav.ts";
import { SessionHouse } from "../support/session-house.ts";
import { until } from "../support/until.ts";

const LIMIT = 2;

describe("outbox backlog", () => {
  let house: SessionHouse;
  beforeAll(async () => {
    house = await SessionHouse.open();
  });
  afterAll(() => house?.close());

  it("outbox backlog: uploads are refused with Retry-After beyond the limit, and taken again", async () => {
    const backlog = new OutboxBacklog(house.pool, silentLog, LIMIT);
    backlog.start();
    house.checkBacklog = () => backlog.check();
    const { device } = await house.ownDevice();
    const sessionId = await house.start(device);
    // Nobody carries commands out here: the session's start and each chunk stay in the outbox.
    const send = (sequence: number) =>
      house.upload(device, sessionId, sequence, makeWav({ frames: 1_600, seed: sequence + 1 }));
    await send(0);
    await send(1);
    const length = () => backlog.queues[0]?.length ?? 0;
    await until(() => length() === LIMIT + 1, "the outbox to be looked at");
    await expect(send(2)).rejects.toMatchObject({ code: "overloaded", retryAfter: 5 });
    expect(backlog.queues).toEqual([
      { queue: "outbox", length: LIMIT + 1, limit: LIMIT, refused: 1 },
    ]);
    await house.sql("delete from outbox");
    await until(() => length() === 0, "the outbox to be looked at again");
    expect((await send(2)).status).toBe(201);
    await backlog.stop();
  });
});
