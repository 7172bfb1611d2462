import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { JobQueueStore } from "../../src/conversations/jobs/queue-store.ts";
import { SummaryStore } from "../../src/conversations/summaries/store.ts";
import { SessionBacklog } from "../../src/postgres/outbox.ts";
import { WaitingWorkStore } from "../../src/postgres/waiting-work.ts";
import { DeliveryQueueStore } from "../../src/tenancy/webhooks/queue-store.ts";
import { makeWav } from "../support/make-wav.ts";
import { SessionFixture } from "../support/session-fixture.ts";

const NOTHING = {
  commands: false,
  parked: false,
  jobs: false,
  deliveries: false,
  silence: false,
  recording: false,
  fragments: false,
  files: false,
};

/** How a pool is asked. */
const ASKS = new Set(["any", "one", "query", "maybeOne", "transaction"]);

describe("waiting work", () => {
  let fixture: SessionFixture;
  let pendingWork: WaitingWorkStore;
  beforeAll(async () => {
    fixture = await SessionFixture.open();
    pendingWork = new WaitingWorkStore(fixture.pool);
  });
  afterAll(() => fixture?.close());

  it("waiting work: there is none in an empty database", async () => {
    expect(await pendingWork.read()).toEqual(NOTHING);
  });

  it("waiting work: each kind is seen as soon as it is committed, and no longer than it is there", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    await fixture.upload(device, sessionId, 0, makeWav({ frames: 1_600, seed: 1 }));
    expect(await pendingWork.read()).toEqual({ ...NOTHING, commands: true, recording: true });
    await fixture.sql("update outbox set parked_at = now()");
    expect(await pendingWork.read()).toEqual({ ...NOTHING, parked: true, recording: true });
    await fixture.sql("delete from outbox");
    await fixture.sql("update sessions set status = 'completed'");
    expect(await pendingWork.read()).toEqual(NOTHING);
    await fixture.sql("update chunks set silence_wanted = silence_done + 1");
    expect(await pendingWork.read()).toEqual({ ...NOTHING, silence: true });
    await fixture.sql("update chunks set silence_wanted = silence_done");
    expect(await pendingWork.read()).toEqual(NOTHING);
  });

  it("waiting work: a job counts when it is due, and when whoever had it let its claim run out", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device);
    await fixture.sql("update sessions set status = 'completed'");
    await fixture.sql("delete from outbox");
    const { id } = await new SummaryStore(fixture.pool).request(sessionId, "brief");
    const jobs = async () => (await pendingWork.read()).jobs;
    expect(await jobs()).toBe(true);
    await fixture.sql("update jobs set due_at = now() + interval '1 hour' where id = $1", [id]);
    expect(await jobs()).toBe(false);
    await fixture.sql("update jobs set due_at = now() where id = $1", [id]);
    const queue = new JobQueueStore(fixture.pool, pendingWork);
    expect(await queue.claim(["summarisation"], 3_600_000)).toMatchObject({ id });
    expect(await jobs()).toBe(false);
    expect(await queue.claim(["summarisation"], 3_600_000)).toBeUndefined();
    await fixture.sql("update jobs set claimed_until = now() - interval '1 s' where id = $1", [id]);
    expect(await queue.claim(["summarisation"], 3_600_000)).toMatchObject({ id, attempt: 2 });
    await fixture.sql("delete from jobs where id = $1", [id]);
  });

  it("waiting work: a message counts while its webhook may send, whoever made that", async () => {
    const [owner, outsider] = [await fixture.user(), await fixture.user()];
    const workspaceId = await fixture.workspace(owner.id);
    const [keyId, secretId, hookId] = [newId(), newId(), newId()];
    await fixture.sql(
      "insert into service_keys (id, workspace_id, name, scopes) values ($1, $2, 'K', '{webhooks}')",
      [keyId, workspaceId],
    );
    await fixture.sql(
      `insert into service_key_secrets
         (id, key_id, secret_hash, prefix, created_at, expires_at, made_by)
       values ($1, $2, $3, 'p', now(), now() + interval '1 day', $4)`,
      [secretId, keyId, Buffer.from(secretId), owner.id],
    );
    await fixture.sql(
      "insert into webhooks (id, workspace_id, url, secret) values ($1, $2, 'https://h.test', '')",
      [hookId, workspaceId],
    );
    await fixture.sql(
      `insert into webhook_deliveries (webhook_id, id, event_type, data, occurred_at)
       values ($1, gen_random_uuid(), 'session.completed', '{}', now())`,
      [hookId],
    );
    const queue = new DeliveryQueueStore(fixture.pool);
    /** What the look says, which is what a claim finds. */
    async function isWaiting(): Promise<boolean> {
      const { deliveries } = await pendingWork.read();
      const found = await queue.claim(1, Date.now() + 60_000, 1);
      await fixture.sql("update webhooks set lease_id = null, free_at = '-infinity'");
      expect(deliveries).toBe(found.length === 1);
      return deliveries;
    }
    const made = (by: string | null, key: string | null = null) =>
      fixture.sql("update webhooks set made_by = $1, made_by_key = $2", [by, key]);
    const turns = async (change: string, back: string) => {
      expect(await isWaiting()).toBe(true);
      await fixture.sql(change);
      expect(await isWaiting()).toBe(false);
      await fixture.sql(back);
      expect(await isWaiting()).toBe(true);
    };
    const disabled = [
      `update users set disabled_at = now() where id = '${owner.id}'`,
      `update users set disabled_at = null where id = '${owner.id}'`,
    ] as const;
    const member = [
      `update workspace_members set role = 'member' where user_id = '${owner.id}'`,
      `update workspace_members set role = 'owner' where user_id = '${owner.id}'`,
    ] as const;

    expect(await isWaiting()).toBe(false);
    await made(outsider.id);
    expect(await isWaiting()).toBe(false);
    await fixture.sql("update users set role = 'admin' where id = $1", [outsider.id]);
    expect(await isWaiting()).toBe(true);
    await made(owner.id);
    await turns(...disabled);
    await turns(...member);
    await made(null, keyId);
    await turns(...disabled);
    await turns(...member);
    await turns(
      "update service_keys set revoked_at = now()",
      "update service_keys set revoked_at = null",
    );
    await turns(
      "update service_key_secrets set expires_at = now() - interval '1 s'",
      "update service_key_secrets set expires_at = now() + interval '1 day'",
    );
    await fixture.sql("update service_key_secrets set made_as = 'admin', made_by = $1", [
      outsider.id,
    ]);
    await turns(
      `update users set role = 'participant' where id = '${outsider.id}'`,
      `update users set role = 'admin' where id = '${outsider.id}'`,
    );
    await fixture.sql("update webhook_deliveries set status = 'succeeded'");
    expect(await isWaiting()).toBe(false);
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
