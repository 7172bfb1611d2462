import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import { AddressGuard } from "../../src/tenancy/webhooks/address-guard.ts";
import { codeOf } from "../support/route-call.ts";
import type { SessionStory } from "../support/session-story.ts";
import { until } from "../support/until.ts";
import { WebhookFixture } from "../support/webhook-fixture.ts";
import { verify, WebhookReceiver } from "../support/webhook-receiver.ts";

describe("webhooks: routes", () => {
  let fixture: WebhookFixture;
  let receiver: WebhookReceiver;
  let owner: UserPrincipal;
  let workspaceId: string;
  let story: SessionStory;
  beforeAll(async () => {
    fixture = await WebhookFixture.open();
    receiver = await WebhookReceiver.open();
  });
  afterAll(async () => {
    await fixture.close();
    await receiver.close();
  });
  beforeEach(async () => {
    receiver.received.length = 0;
    fixture.clock.advance(Date.now() + 120_000 - fixture.clock.now());
    ({ owner, workspaceId, story } = await fixture.session());
  });
  afterEach(() => fixture.stopSenders());

  const at = (webhook_id: string, more: Record<string, string> = {}) => ({
    principal: owner,
    params: { id: workspaceId, webhook_id, ...more },
  });
  const add = (url = receiver.url) => fixture.add(owner, workspaceId, { url });

  it("routes: a webhook is made, shown without its secret, changed and deleted, with an audit", async () => {
    const made = await fixture.call("createWebhook", {
      principal: owner,
      params: { id: workspaceId },
      body: { url: receiver.url, event_types: ["session.started", "session.started"] },
    });
    expect(made).toMatchObject({
      workspace_id: workspaceId,
      url: receiver.url,
      description: "",
      event_types: ["session.started"],
      enabled: true,
      consecutive_failures: 0,
      secret: expect.stringMatching(/^whsec_/),
    });
    const { secret, ...shown } = made;
    const id = String(made.id);
    expect(await fixture.call("getWebhook", at(id))).toEqual(shown);
    const changed = await fixture.call("changeWebhook", {
      ...at(id),
      body: { description: "CRM", event_types: [], enabled: false },
    });
    expect(changed).toMatchObject({ description: "CRM", event_types: [], enabled: false });
    const stale = { ...at(id), body: { enabled: true }, expected: shown };
    expect(await codeOf(fixture.call("changeWebhook", stale))).toBe("precondition_failed");
    const again = { ...at(id), body: { description: "CRM" }, expected: changed };
    expect(await fixture.call("changeWebhook", again)).toMatchObject({ enabled: false });
    const list = await fixture.call("listWebhooks", at(id));
    expect(list).toMatchObject({ items: [{ id, enabled: false }], next_cursor: null });
    expect(await codeOf(fixture.call("testWebhook", at(id)))).toBe("conflict");
    await fixture.call("deleteWebhook", at(id));
    expect(await codeOf(fixture.call("getWebhook", at(id)))).toBe("not_found");
    const audit = await fixture.fixture.sql<{ kind: string; actor_id: string; text: string }>(
      "select kind, actor_id, audit_log::text as text from audit_log where subject_id = $1 order by seq",
      [id],
    );
    expect(audit.map(({ kind }) => kind)).toEqual([
      "webhook_created",
      "webhook_changed",
      "webhook_changed",
      "webhook_deleted",
    ]);
    for (const { actor_id, text } of audit) {
      expect(actor_id).toBe(owner.id);
      expect(text).not.toContain(String(secret));
    }
  });

  it("routes: owners and admins manage webhooks, nobody else, and none of another workspace", async () => {
    const { id } = await add();
    const member = await fixture.fixture.user();
    await fixture.fixture.join(workspaceId, member.id);
    const stranger = await fixture.fixture.user("moderator");
    const admin = await fixture.fixture.user("admin");
    const as = (principal: UserPrincipal) =>
      codeOf(fixture.call("getWebhook", { ...at(id), principal }));
    expect(await as(member)).toBe("forbidden");
    expect(await as(stranger)).toBe("forbidden");
    expect(await as(admin)).toBe("none");
    const rotating = { ...at(id), principal: admin };
    const rotated = await codeOf(fixture.call("rotateWebhookSecret", rotating));
    expect(rotated).toBe("elevation_required");
    const other = await fixture.session();
    const params = { id: other.workspaceId, webhook_id: id };
    const elsewhere = { principal: other.owner, params };
    for (const route of ["getWebhook", "deleteWebhook", "testWebhook", "rotateWebhookSecret"]) {
      expect(await codeOf(fixture.call(route, elsewhere))).toBe("not_found");
    }
    expect(await codeOf(fixture.call("getWebhook", at(newId())))).toBe("not_found");
    expect(await codeOf(fixture.call("getWebhook", at("nonsense")))).toBe("not_found");
    const unknown = { principal: owner, params: { id: newId() } };
    expect(await codeOf(fixture.call("listWebhooks", unknown))).toBe("not_found");
  });

  it("routes: a URL that may not be sent to is 400, when made and when changed", async () => {
    const { id } = await add();
    for (const url of ["http://169.254.169.254/latest", "ftp://example.com", "nonsense"]) {
      expect(await codeOf(add(url))).toBe("invalid_body");
      expect(await codeOf(fixture.call("changeWebhook", { ...at(id), body: { url } }))).toBe(
        "invalid_body",
      );
    }
    const strict = new AddressGuard({ allowPrivate: false });
    expect(await strict.refusal(receiver.url)).toMatch(/https/);
  });

  it("routes: a workspace has at most 20 webhooks, even when asked all at once", async () => {
    const codes = await Promise.all(Array.from({ length: 25 }, () => codeOf(add())));
    expect(codes.filter((code) => code === "none")).toHaveLength(20);
    expect(codes.filter((code) => code === "quota_exceeded")).toHaveLength(5);
    const first = await fixture.call("listWebhooks", { ...at(""), query: { limit: 15 } });
    const cursor = String(first.next_cursor);
    const second = await fixture.call("listWebhooks", { ...at(""), query: { limit: 15, cursor } });
    expect([...(first.items as []), ...(second.items as [])]).toHaveLength(20);
  });

  it("routes: a test arrives, and after a rotation both secrets verify for a day", async () => {
    const { id, secret: old } = await add();
    const delivery = await fixture.call("testWebhook", at(id));
    expect(delivery).toMatchObject({
      event_type: "webhook.test",
      status: "pending",
      payload: { type: "webhook.test", data: { webhook_id: id, workspace_id: workspaceId } },
    });
    const sender = fixture.sender();
    await receiver.got(1);
    expect(receiver.received[0]?.headers["webhook-id"]).toBe(delivery.id);
    const rotated = await fixture.call("rotateWebhookSecret", at(id));
    const fresh = String(rotated.secret);
    expect(fresh).not.toBe(old);
    expect(rotated.previous_secret_expires_at).toBeDefined();
    await fixture.call("testWebhook", at(id));
    await receiver.got(2);
    fixture.clock.advance(24 * 3_600_000 + 1_000);
    await fixture.call("testWebhook", at(id));
    await receiver.got(3);
    await sender.runner.stop();
    const [before, during, after] = receiver.received;
    if (before === undefined || during === undefined || after === undefined) throw new Error("3");
    verify(before, old);
    verify(during, old);
    verify(during, fresh);
    verify(after, fresh);
    expect(() => verify(after, old)).toThrow();
    const rows = await fixture.fixture.sql("select w::text as text from webhooks w");
    for (const secret of [old, fresh]) expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it("routes: the log has pages and a filter, and a delivery can be sent again by hand", async () => {
    const { id } = await add();
    receiver.reply = () => ({ status: 410 });
    await story.tell([
      { type: "SessionStopped", lastSequence: 0 },
      { type: "SessionCompleted" },
      {
        type: "SpeakerClaimed",
        label: "S1",
        source: "self_claim",
        claimedUserId: newId(),
        byUserId: newId(),
      },
    ]);
    fixture.sender();
    await until(async () => !(await fixture.webhook(owner, workspaceId, id)).enabled, "410");
    const query = { limit: 2, status: "failed" };
    const first = await fixture.call("listWebhookDeliveries", { ...at(id), query });
    const cursor = String(first.next_cursor);
    const rest = await fixture.call("listWebhookDeliveries", {
      ...at(id),
      query: { ...query, cursor },
    });
    const found = [...(first.items as []), ...(rest.items as [])] as {
      id: string;
      event_type: string;
    }[];
    expect(found.map((each) => each.event_type)).toEqual([
      "speaker.claimed",
      "session.completed",
      "session.stopped",
    ]);
    const retried = at(id, { delivery_id: found[1]?.id ?? "" });
    expect(await codeOf(fixture.call("retryWebhookDelivery", retried))).toBe("conflict");
    const unknown = at(id, { delivery_id: newId() });
    expect(await codeOf(fixture.call("retryWebhookDelivery", unknown))).toBe("not_found");
    const on = await fixture.call("changeWebhook", { ...at(id), body: { enabled: true } });
    expect(on).toMatchObject({ enabled: true, consecutive_failures: 0 });
    expect(on.disabled_reason).toBeUndefined();
    receiver.reply = () => ({ status: 200 });
    expect(await fixture.call("retryWebhookDelivery", retried)).toMatchObject({
      status: "pending",
    });
    await receiver.got(2);
    expect(receiver.received[1]?.headers["webhook-id"]).toBe(found[1]?.id);
    await until(
      async () => (await fixture.log(owner, workspaceId, id))[1]?.status === "succeeded",
      "the log",
    );
  });

  it("routes: a webhook with tags hears of sessions that have all of them, to their deletion", async () => {
    const { sessionId } = story;
    await fixture.fixture.sql("update sessions set tags = '{phone,berlin}' where id = $1", [
      sessionId,
    ]);
    const make = async (tags?: string[]) => {
      const body = { url: receiver.url, tags };
      const made = await fixture.call("createWebhook", { ...at(""), body });
      return String(made.id);
    };
    const ids = [await make(), await make(["phone"]), await make(["phone", "paris"])];
    await story.tell([{ type: "SessionStopped", lastSequence: -1 }]);
    const deletion = new PostgresSessionDeletion(fixture.fixture.pool, DELETION_PARTS);
    await deletion.erase(sessionId, "session_deleted_by_owner", { kind: "system" });
    const heard = await Promise.all(
      ids.map(async (id) =>
        (await fixture.log(owner, workspaceId, id)).map((each) => each.event_type),
      ),
    );
    const all = ["session.deleted", "session.stopped"];
    expect(heard).toEqual([all, all, []]);
    const changed = await fixture.call("changeWebhook", {
      ...at(ids[2] ?? ""),
      body: { tags: [] },
    });
    expect(changed.tags).toEqual([]);
  });

  it("routes: what happened in a span is sent again, under the same ids and in its order", async () => {
    const { id } = await add(`${receiver.url}/span`);
    const own = () => receiver.received.filter(({ path }) => path === "/hook/span");
    fixture.sender();
    await story.tell([{ type: "SessionStopped", lastSequence: -1 }, { type: "SessionCompleted" }]);
    await until(() => own().length >= 2, "both messages");
    const isDone = async () =>
      (await fixture.log(owner, workspaceId, id)).every(({ status }) => status === "succeeded");
    await until(isDone, "the log");
    const from = "2026-01-31T09:30:00.000Z";
    const none = { from: "2026-02-01T00:00:00.000Z" };
    const replay = (body: object) => fixture.call("replayWebhook", { ...at(id), body });
    expect(await replay(none)).toEqual({ replayed: 0 });
    expect(await replay({ from: "2025-01-01T00:00:00Z", to: from })).toEqual({ replayed: 0 });
    expect(await replay({ from })).toEqual({ replayed: 2 });
    await until(() => own().length >= 4, "both again");
    const ids = own().map(({ headers }) => headers["webhook-id"]);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
    await fixture.call("changeWebhook", { ...at(id), body: { enabled: false } });
    expect(await codeOf(replay({ from }))).toBe("conflict");
  });
});
