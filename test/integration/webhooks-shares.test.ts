import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DeliveryQueueStore } from "../../src/tenancy/webhooks/queue-store.ts";
import { SessionFixture } from "../support/session-fixture.ts";

const LEASE_MS = 60_000;

describe("webhooks: shares of what is sent at once", () => {
  let fixture: SessionFixture;
  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());

  /** A webhook that has something due. */
  async function addDue(workspaceId: string, madeBy: string): Promise<void> {
    await fixture.sql(
      `with hook as (
         insert into webhooks (id, workspace_id, url, secret, made_by)
         values (gen_random_uuid(), $1, 'https://example.org', '\\x00', $2) returning id)
       insert into webhook_deliveries (webhook_id, id, event_type, data, occurred_at)
       select id, gen_random_uuid(), 'session.completed', '{}', now() from hook`,
      [workspaceId, madeBy],
    );
  }

  it("webhooks: endpoints of one account's workspaces have one share, whoever made them", async () => {
    const mallory = await fixture.user();
    for (let n = 0; n < 8; n += 1) {
      const workspaceId = await fixture.workspace(mallory.id);
      const friend = await fixture.user();
      await fixture.sql(
        `insert into workspace_members (workspace_id, user_id, role, created_at)
         values ($1, $2, 'owner', now() + interval '1 day')`,
        [workspaceId, friend.id],
      );
      await addDue(workspaceId, friend.id);
    }
    const alice = await fixture.user();
    const own = await fixture.workspace(alice.id);
    await addDue(own, alice.id);
    const queue = new DeliveryQueueStore(fixture.pool);
    const claim = (now: number) => queue.claim(20, now, LEASE_MS, { workspace: 20, tenant: 3 });
    const workspaces = async (claims: { webhookId: string }[]) => {
      const rows = await fixture.sql<{ workspace_id: string }>(
        "select workspace_id from webhooks where id = any($1)",
        [claims.map(({ webhookId }) => webhookId)],
      );
      return rows.map(({ workspace_id }) => workspace_id);
    };
    const now = Date.now() + 120_000;
    const first = await claim(now);
    expect(first).toHaveLength(4);
    expect(await workspaces(first)).toContain(own);
    // The share is used up as long as they are being served.
    expect(await claim(now + 1)).toEqual([]);
    expect(await claim(now + LEASE_MS + 1)).toHaveLength(4);
  });
});
