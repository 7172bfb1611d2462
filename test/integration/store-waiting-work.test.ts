import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JobQueueStore } from "../../src/features/jobs/queue-store.ts";
import { SummaryStore } from "../../src/features/summaries/store.ts";
import { DeliveryQueueStore } from "../../src/features/webhooks/queue-store.ts";
import { SessionBacklog } from "../../src/postgres/outbox.ts";
import { WaitingWorkStore } from "../../src/postgres/waiting-work.ts";
import { makeWav } from "../support/make-wav.ts";
import { SessionFixture } from "../support/session-fixture.ts";

const NOTHING = {
  commands: false,
  parked: false,
  jobs: false,
  deliveries: false,
  silence: false,
  recording: false,
  pieces: false,
  files: false,
};

/** How a pool is asked. */
const ASKS = new Set(["any", "one", "query", "maybeOne", "transaction"]);

describe("waiting work", () => {
  let fixture: SessionFixture;
  let look: WaitingWorkStore;
  beforeAll(async () => {
    fixture = await SessionFixture.open();
    look = new WaitingWorkStore(fixture.pool);
  });
  afterAll(() => fixture?.close());

  it("waiting work: there is none in an empty database", async () => {
    expect(await look.read()).toEqual(NOTHING);
  });

  it("waiting work: each kind is seen as soon as it is committed, and no longer than it is there", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    await fixture.upload(device, sessionId, 0, makeWav({ frames: 1_600, seed: 1 }));
    expect(await look.read()).toEqual({ ...NOTHING, commands: true, recording: true });
    await fixture.sql("update outbox set parked_at = now()");
    expect(await look.read()).toEqual({ ...NOTHING, parked: true, recording: true });
    await fixture.sql("delete from outbox");
    await fixture.sql("update sessions set status = 'completed'");
    expect(await look.read()).toEqual(NOTHING);
    await fixture.sql("update chunks set silence_wanted = silence_done + 1");
    expect(await look.read()).toEqual({ ...NOTHING, silence: true });
    await fixture.sql("update chunks set silence_wanted = silence_done");
    expect(await look.read()).toEqual(NOTHING);
  });

  it("waiting work: a job counts when it is due, and when whoever had it let its claim run out", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    await fixture.sql("update sessions set status = 'completed'");
    await fixture.sql("delete from outbox");
    const { id } = await new SummaryStore(fixture.pool).request(sessionId, "brief");
    const jobs = async () => (await look.read()).jobs;
    expect(await jobs()).toBe(true);
    await fixture.sql("update jobs set due_at = now() + interval '1 hour' where id = $1", [id]);
    expect(await jobs()).toBe(false);
    await fixture.sql("update jobs set due_at = now() where id = $1", [id]);
    const queue = new JobQueueStore(fixture.pool, look);
    expect(await queue.claim(["summarisation"], 3_600_000)).toMatchObject({ id });
    expect(await jobs()).toBe(false);
    expect(await queue.claim(["summarisation"], 3_600_000)).toBeUndefined();
    await fixture.sql("update jobs set claimed_until = now() - interval '1 s' where id = $1", [id]);
    expect(await queue.claim(["summarisation"], 3_600_000)).toMatchObject({ id, attempt: 2 });
    await fixture.sql("delete from jobs where id = $1", [id]);
  });

  it("waiting work: who asks in one turn shares one look, and asks for nothing that is not there", async () => {
    let statements = 0;
    const counted = new Proxy(fixture.pool, {
      get(pool, name) {
        if (typeof name === "string" && ASKS.has(name)) statements += 1;
        return Reflect.get(pool, name) as unknown;
      },
    });
    const shared = new WaitingWorkStore(counted);
    const backlog = new SessionBacklog(counted, shared);
    const deliveries = new DeliveryQueueStore(counted, shared);
    const found = await Promise.all([backlog.waiting(), deliveries.claim(16, Date.now(), 30_000)]);
    expect(found).toEqual([[], []]);
    expect(statements).toBe(1);
  });
});
