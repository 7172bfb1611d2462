import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { partitionOf } from "../../src/base/partition.ts";
import { OutboxBacklog } from "../../src/postgres/outbox-backlog.ts";
import { makeWav } from "../support/make-wav.ts";
import { SessionFixture } from "../support/session-fixture.ts";

const LIMITS = { session: 3, partition: 5 };

describe("outbox backlog", () => {
  let fixture: SessionFixture;
  let backlog: OutboxBacklog;
  beforeAll(async () => {
    fixture = await SessionFixture.open();
    backlog = new OutboxBacklog(fixture.pool, LIMITS);
    fixture.checkBacklog = (id) => backlog.check(id);
  });
  afterAll(() => fixture?.close());

  async function begin() {
    const { device } = await fixture.ownDevice();
    return { device, sessionId: await fixture.start(device) };
  }

  async function beginOutside(partition: number): ReturnType<typeof begin> {
    const begun = await begin();
    if (partitionOf(begun.sessionId) !== partition) return begun;
    await fixture.sql("delete from outbox where session_id = $1", [begun.sessionId]);
    return beginOutside(partition);
  }

  async function counted(longest: number): Promise<void> {
    await backlog.count();
    expect(backlog.queues[0]?.length).toBe(longest);
  }

  it("outbox backlog: a session's uploads are refused beyond its limit, no other's, and taken again", async () => {
    const one = await begin();
    const other = await beginOutside(partitionOf(one.sessionId));
    // Nobody carries commands out here: the session's start and each chunk stay in the outbox.
    const send = ({ device, sessionId }: typeof one, sequence: number) =>
      fixture.upload(device, sessionId, sequence, makeWav({ frames: 1_600, seed: sequence + 1 }));
    for (const sequence of [0, 1, 2]) await send(one, sequence);
    await counted(4);
    await expect(send(one, 3)).rejects.toMatchObject({ code: "overloaded", retryAfter: 5 });
    expect((await send(other, 0)).status).toBe(201);
    expect(backlog.queues[0]).toMatchObject({ queue: "outbox", limit: 5, refused: 1 });
    await fixture.sql("delete from outbox");
    await counted(0);
    expect((await send(one, 3)).status).toBe(201);
  });

  it("outbox backlog: a partition's sessions are refused beyond its limit, though none is beyond its own", async () => {
    await fixture.sql("delete from outbox");
    const { sessionId } = await begin();
    const inPartition = (n: number) => `${newId().slice(0, -4)}${n}${sessionId.slice(-3)}`;
    // The last ten bits of an id are its partition.
    const ids = [1, 2, 3, 5, 6].map(inPartition).filter((id) => id !== sessionId);
    for (const id of ids) {
      expect(partitionOf(id)).toBe(partitionOf(sessionId));
      const other = { id, job_id: newId(), device_id: null };
      await fixture.sql(
        `insert into sessions select (jsonb_populate_record(s, $2)).* from sessions s where id = $1`,
        [sessionId, other],
      );
      await fixture.sql(
        "insert into outbox (id, session_id, command) values (gen_random_uuid(), $1, '{}')",
        [id],
      );
    }
    await counted(ids.length + 1);
    expect(() => backlog.check(sessionId)).toThrow(/More audio came/);
    const elsewhere = `${sessionId.slice(0, -1)}${sessionId.endsWith("0") ? "1" : "0"}`;
    expect(() => backlog.check(elsewhere)).not.toThrow();
  });
});
