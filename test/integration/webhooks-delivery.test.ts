import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { AddressGuard } from "../../src/tenancy/webhooks/address-guard.ts";
import { enqueueWebhookEvent } from "../../src/tenancy/webhooks/queue-store.ts";
import type { SessionStory } from "../support/session-story.ts";
import { until } from "../support/until.ts";
import { WebhookFixture } from "../support/webhook-fixture.ts";
import { verify, WebhookReceiver } from "../support/webhook-receiver.ts";

const HOUR = 3_600_000;
const STARTED: SessionEvent = {
  type: "SessionStarted",
  sessionId: "s",
  jobId: "j",
  language: "en",
};
const STOPPED: SessionEvent = { type: "SessionStopped", lastSequence: 0 };
const COMPLETED: SessionEvent = { type: "SessionCompleted" };

describe("webhooks: delivery", () => {
  let fixture: WebhookFixture;
  let receiver: WebhookReceiver;
  let owner: UserPrincipal;
  let workspaceId: string;
  let story: SessionStory;
  beforeAll(async () => {
    fixture = await WebhookFixture.open();
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    receiver = await WebhookReceiver.open();
    // A little ahead of the database's clock, which says when a message is first due.
    fixture.clock.advance(Date.now() + 120_000 - fixture.clock.now());
    ({ owner, workspaceId, story } = await fixture.session());
  });
  afterEach(async () => {
    await fixture.stopSenders();
    await fixture.fixture.sql("delete from webhooks");
    await receiver.close();
  });

  const log = (id: string) => fixture.log(owner, workspaceId, id);
  const webhook = (id: string) => fixture.webhook(owner, workspaceId, id);

  it("delivery: a session's life arrives signed, in order, as ids without words", async () => {
    const { id, secret } = await fixture.add(owner, workspaceId, { url: receiver.url });
    await story.tell([STARTED]);
    await story.say("S1", 0, "nobody must see this");
    await story.tell([STOPPED, COMPLETED]);
    fixture.sender();
    await receiver.got(3);
    expect(receiver.types()).toEqual(["session.started", "session.stopped", "session.completed"]);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect([...ids].sort()).toEqual(ids);
    for (const each of receiver.received) {
      verify(each, secret);
      expect(each.message.data).toMatchObject({
        session_id: story.sessionId,
        workspace_id: workspaceId,
      });
      expect(each.body).not.toContain("nobody");
    }
    expect(receiver.received[2]?.message.data).toMatchObject({ status: "completed", seq: 4 });
    const [first] = receiver.received;
    expect(() => verify({ ...first, body: `${first?.body} ` } as never, secret)).toThrow();
    await until(async () => (await log(id)).every((each) => each.status === "succeeded"), "log");
    expect(JSON.stringify(await log(id))).not.toContain("words");
  });

  it("delivery: only what was asked for, only of the own workspace, only while enabled", async () => {
    const other = await fixture.session();
    await fixture.add(owner, workspaceId, { url: receiver.url, event_types: ["session.stopped"] });
    await fixture.add(owner, workspaceId, { url: `${receiver.url}/off`, enabled: false });
    await fixture.add(other.owner, other.workspaceId, { url: `${receiver.url}/other` });
    await story.tell([STARTED, STOPPED]);
    await fixture.fixture.pool.transaction((tx) =>
      enqueueWebhookEvent(tx, {
        sessionId: other.story.sessionId,
        type: "session.deleted",
        at: Date.now(),
        data: { status: "deleted" },
      }),
    );
    fixture.sender();
    await receiver.got(2);
    expect(receiver.types("/hook")).toEqual(["session.stopped"]);
    expect(receiver.types("/hook/off")).toEqual([]);
    expect(receiver.types("/hook/other")).toEqual(["session.deleted"]);
  });

  it("delivery: a session's deletion is told, and what was told before holds no words", async () => {
    await fixture.add(owner, workspaceId, { url: receiver.url });
    await story.say("S1", 0, "nobody must see this");
    const deletion = new PostgresSessionDeletion(fixture.fixture.pool, DELETION_PARTS);
    const kind = "session_deleted_by_owner";
    await deletion.erase(story.sessionId, kind, { kind: "user", id: owner.id });
    await deletion.erase(story.sessionId, kind, { kind: "user", id: owner.id });
    fixture.sender();
    await receiver.got(1);
    expect(receiver.received[0]?.message).toMatchObject({
      type: "session.deleted",
      data: { session_id: story.sessionId, workspace_id: workspaceId, status: "deleted", kind },
    });
    await new Promise((wake) => setTimeout(wake, 100));
    expect(receiver.received).toHaveLength(1);
  });

  it("delivery: what fails is sent again under its id, after ever longer waits", async () => {
    const { id, secret } = await fixture.add(owner, workspaceId, { url: receiver.url });
    const statuses = [500, 503, 200];
    receiver.reply = () => ({ status: statuses[receiver.received.length - 1] ?? 200 });
    await story.tell([STARTED]);
    fixture.sender();
    const failures = (count: number) =>
      until(async () => (await webhook(id)).consecutive_failures === count, `failure ${count}`);
    await failures(1);
    fixture.clock.advance(4_900);
    await new Promise((wake) => setTimeout(wake, 100));
    expect(receiver.received).toHaveLength(1);
    fixture.clock.advance(400);
    await failures(2);
    fixture.clock.advance(HOUR);
    await until(async () => (await log(id))[0]?.status === "succeeded", "the third attempt");
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    for (const each of receiver.received) verify(each, secret);
    const [delivery] = await log(id);
    expect(delivery?.attempts.map((each) => [each.status_code, each.error])).toEqual([
      [500, "http_error"],
      [503, "http_error"],
      [200, undefined],
    ]);
    expect((await webhook(id)).consecutive_failures).toBe(0);
  });

  it("delivery: it gives up within 3 days, and a dead endpoint is switched off after 5", async () => {
    const { id } = await fixture.add(owner, workspaceId, { url: receiver.url });
    receiver.reply = () => ({ status: 500 });
    await story.tell([STARTED]);
    fixture.sender();
    const begun = fixture.clock.now();
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await until(async () => (await log(id))[0]?.attempts.length === attempt, `${attempt} times`);
      const next = (await log(id))[0]?.next_attempt_at;
      if (next !== undefined) fixture.clock.advance(Date.parse(next) - fixture.clock.now());
    }
    expect((await log(id))[0]).toMatchObject({ status: "failed", attempt_count: 10 });
    expect(fixture.clock.now() - begun).toBeGreaterThan(60 * HOUR);
    expect(fixture.clock.now() - begun).toBeLessThan(72 * HOUR);
    expect(await webhook(id)).toMatchObject({ enabled: true, consecutive_failures: 10 });
    fixture.clock.advance(60 * HOUR);
    await story.tell([STOPPED, COMPLETED]);
    await until(async () => (await webhook(id)).enabled === false, "the end");
    expect(await webhook(id)).toMatchObject({ disabled_reason: "failing" });
    expect((await log(id)).map((each) => each.status)).toEqual(["failed", "failed", "failed"]);
  });

  it("delivery: 410 switches the webhook off and ends what waits", async () => {
    const { id } = await fixture.add(owner, workspaceId, { url: receiver.url });
    receiver.reply = () => ({ status: 410 });
    await story.tell([STARTED, STOPPED]);
    fixture.sender();
    await until(async () => (await webhook(id)).enabled === false, "the webhook to be off");
    expect(await webhook(id)).toMatchObject({ disabled_reason: "gone" });
    await story.tell([COMPLETED]);
    const [second, first] = await log(id);
    expect(first?.attempts).toMatchObject([{ status_code: 410, error: "gone" }]);
    expect(second).toMatchObject({ status: "failed", attempts: [{ error: "disabled" }] });
    expect(receiver.received).toHaveLength(1);
    expect(await log(id)).toHaveLength(2);
  });

  it("delivery: a receiver that does not answer is a failure, and holds up nobody else", async () => {
    const quick = await WebhookReceiver.open();
    const slow = await fixture.add(owner, workspaceId, { url: receiver.url });
    receiver.reply = () => "silence";
    await fixture.add(owner, workspaceId, { url: quick.url });
    await story.tell([STARTED, STOPPED, COMPLETED]);
    fixture.sender({ timeout: 1_500 });
    await quick.got(3, 1_200);
    expect(receiver.received).toHaveLength(1);
    await until(async () => (await log(slow.id)).some((each) => each.attempts.length > 0), "log");
    expect((await log(slow.id)).at(-1)?.attempts).toMatchObject([{ error: "timeout" }]);
    await quick.close();
  });

  it("delivery: a redirect is not followed, and no connection is another failure", async () => {
    const elsewhere = await WebhookReceiver.open();
    const { id } = await fixture.add(owner, workspaceId, { url: receiver.url });
    receiver.reply = () => ({ status: 307, location: elsewhere.url });
    const closed = await fixture.add(owner, workspaceId, { url: "http://127.0.0.1:9/hook" });
    await story.tell([STARTED]);
    fixture.sender();
    const tried = async (webhookId: string) => (await log(webhookId))[0]?.attempts.length === 1;
    await until(async () => (await tried(id)) && (await tried(closed.id)), "both attempts");
    expect((await log(id))[0]?.attempts).toMatchObject([{ status_code: 307, error: "redirect" }]);
    expect((await log(closed.id))[0]?.attempts).toMatchObject([{ error: "connection_refused" }]);
    expect(elsewhere.received).toHaveLength(0);
    await elsewhere.close();
  });

  it("delivery: nothing goes to a private address, whatever a name says a moment later", async () => {
    const named = `http://hook.example:${receiver.port}/hook`;
    await fixture.fixture.sql("delete from webhooks");
    const { id } = await fixture.add(owner, workspaceId, { url: receiver.url });
    await fixture.fixture.sql("update webhooks set url = $1 where id = $2", [
      named.replace("http:", "https:"),
      id,
    ]);
    const answers = [["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::ffff:127.0.0.1"]];
    const resolve = async () =>
      (answers.shift() ?? ["169.254.169.254"]).map((address) => ({ address, family: 4 }));
    const guard = new AddressGuard({ allowPrivate: false, resolve });
    expect(await guard.refusal(named.replace("http:", "https:"))).toBeUndefined();
    await story.tell([STARTED, STOPPED, COMPLETED]);
    fixture.sender({ guard });
    await until(
      async () => (await log(id)).every((each) => each.attempts.length === 1),
      "attempts",
    );
    for (const { attempts } of await log(id)) expect(attempts[0]?.error).toBe("address_refused");
    expect(receiver.received).toHaveLength(0);
  });

  it("delivery: the connection goes to the address that was checked", async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return [{ address: "127.0.0.1", family: 4 }];
    };
    const url = `http://no-such-host.invalid:${receiver.port}/hook`;
    const { id } = await fixture.add(owner, workspaceId, { url: receiver.url });
    await fixture.fixture.sql("update webhooks set url = $1 where id = $2", [url, id]);
    await story.tell([STARTED]);
    fixture.sender({ guard: new AddressGuard({ allowPrivate: true, resolve }) });
    await receiver.got(1);
    expect(receiver.received[0]?.headers.host).toBe(`no-such-host.invalid:${receiver.port}`);
    expect(asked).toBe(1);
  });

  it("delivery: what a crashed process held comes back when its lease ends", async () => {
    const { id } = await fixture.add(owner, workspaceId, { url: receiver.url });
    await story.tell([STARTED]);
    const held = await fixture.queue.claim(10, fixture.clock.now(), 60_000);
    expect(held.map((claim) => claim.webhookId)).toEqual([id]);
    fixture.sender();
    fixture.clock.advance(59_000);
    await new Promise((wake) => setTimeout(wake, 100));
    expect(receiver.received).toHaveLength(0);
    fixture.clock.advance(1_500);
    await receiver.got(1);
    await until(async () => (await log(id))[0]?.status === "succeeded", "log");
    // The dead process was only slow: what it says of its attempt no longer counts.
    const [claim] = held;
    if (claim === undefined) throw new Error("unreachable");
    const late = { at: fixture.clock.now(), durationMs: 1, error: "timeout" as const };
    const verdict = { retryAt: 1, pauseUntil: 1, failingSince: 1, disable: undefined };
    await fixture.queue.failed(claim, late, verdict);
    expect((await log(id))[0]).toMatchObject({ status: "succeeded", attempt_count: 2 });
    expect((await webhook(id)).consecutive_failures).toBe(0);
  });

  it("delivery: a sender that stops gives back what it has not finished", async () => {
    const { id } = await fixture.add(owner, workspaceId, { url: receiver.url });
    receiver.reply = () => "silence";
    await story.tell([STARTED]);
    const first = fixture.sender();
    await receiver.got(1);
    await first.runner.stop();
    expect((await log(id))[0]).toMatchObject({ status: "pending", attempt_count: 0, attempts: [] });
    receiver.reply = () => ({ status: 200 });
    fixture.sender();
    await receiver.got(2);
  });

  it("delivery: many senders on one queue send each message once, one at a time", async () => {
    const hooks = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        fixture.add(owner, workspaceId, { url: `http://127.0.0.1:${receiver.port}/${n}` }),
      ),
    );
    for (let n = 0; n < 10; n += 1) await story.tell([STARTED, STOPPED]);
    for (let n = 0; n < 3; n += 1) fixture.sender();
    await receiver.got(100, 30_000);
    await new Promise((wake) => setTimeout(wake, 200));
    expect(receiver.received).toHaveLength(100);
    for (const [n] of hooks.entries()) {
      const types = receiver.types(`/${n}`);
      expect(types).toEqual(Array(10).fill(["session.started", "session.stopped"]).flat());
    }
  });

  it("delivery: a webhook deleted meanwhile never fails an append", async () => {
    for (let n = 0; n < 30; n += 1) {
      const { id } = await fixture.add(owner, workspaceId, { url: receiver.url });
      const params = { id: workspaceId, webhook_id: id };
      await Promise.all([
        story.tell([STARTED]),
        fixture.call("deleteWebhook", { principal: owner, params }),
      ]);
    }
  });

  it("delivery: what is past its time ends, and what is old goes", async () => {
    const { id } = await fixture.add(owner, workspaceId, { url: receiver.url });
    await story.tell([STARTED, STOPPED]);
    const count = async () => (await log(id)).length;
    await fixture.queue.clean(fixture.clock.now() + 73 * HOUR);
    for (const each of await log(id)) {
      expect(each).toMatchObject({ status: "failed", attempts: [{ error: "expired" }] });
    }
    await fixture.queue.clean(fixture.clock.now() + 29 * 24 * HOUR - 10 * 24 * HOUR);
    expect(await count()).toBe(2);
    await fixture.fixture.sql(
      "update webhook_deliveries set created_at = now() - interval '40 days'",
    );
    await fixture.queue.clean(fixture.clock.now());
    expect(await count()).toBe(0);
  });
});
