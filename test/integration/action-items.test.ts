import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import { SessionStore } from "../../src/conversations/sessions/store.ts";
import { actionItemRoutes } from "../../src/conversations/summaries/action-item-routes.ts";
import { ActionItemStore } from "../../src/conversations/summaries/action-items-store.ts";
import { SummaryStore } from "../../src/conversations/summaries/store.ts";
import type { OutboxRow } from "../../src/postgres/outbox.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import {
  fastRunner,
  LocalSummariser,
  type SpokenSession,
  spokenSession,
} from "../support/summary-fixture.ts";
import { until } from "../support/until.ts";

const TASK = "I will write to our customers before the end of this month.";

describe("action items", () => {
  let fixture: SessionFixture;
  let summaries: SummaryStore;
  let items: ActionItemStore;
  let session: SpokenSession;
  const told: OutboxRow[] = [];

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    summaries = new SummaryStore(fixture.pool);
    items = new ActionItemStore(fixture.pool);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    session = await spokenSession(fixture);
    await make();
  });

  async function make(): Promise<void> {
    const { id } = await summaries.request(session.sessionId, "action_items");
    const runner = fastRunner(fixture, new LocalSummariser());
    runner.start();
    await until(async () => (await summaries.get(id))?.status === "completed", "the items");
    await runner.stop();
  }

  async function listed() {
    const [summary] = await summaries.latest(session.sessionId);
    return summary?.items ?? [];
  }

  async function task() {
    const found = (await listed()).find(({ text }) => text === TASK);
    if (found?.id === undefined) throw new Error("The task is not there.");
    return { ...found, id: found.id };
  }

  const call = (id: string, itemId: string, rest: object = {}) => {
    const routes = actionItemRoutes({
      directory: new SessionStore(fixture.pool),
      actionItems: items,
      notifier: { notify: (rows) => told.push(...rows) },
    });
    const params = { session_id: session.sessionId, item_id: itemId };
    return callRoute(routes, id, { principal: session.owner, params, ...rest });
  };

  it("are changed by a person: done, by whom, by when; null takes it back", async () => {
    const { id } = await task();
    expect(await task()).toMatchObject({ done: false, owner: "S2" });
    const change = { done: true, owner: "Ben", due: "" };
    const edited = jsonBody(await call("editActionItem", id, { body: change }));
    expect(edited).toMatchObject({ id, text: TASK, done: true, owner: "Ben" });
    expect(edited).not.toHaveProperty("due");
    expect(await listed()).toContainEqual(
      expect.objectContaining({ id, done: true, owner: "Ben" }),
    );
    const back = { owner: null, due: null };
    expect(jsonBody(await call("editActionItem", id, { body: back }))).toMatchObject({
      ...{ done: true, owner: "S2", due: "before the end of this month" },
    });
    expect(jsonBody(await call("getActionItem", id))).toMatchObject({ id, done: true });
  });

  it("keep what people changed when the notes are made again, also of corrected words", async () => {
    const { id } = await task();
    await call("editActionItem", id, { body: { done: true, owner: "Ben" } });
    await make();
    expect(await task()).toMatchObject({ id, done: true, owner: "Ben" });
    await fixture.sql(
      "update segments set text = replace(text, 'customers', 'clients') where session_id = $1",
      [session.sessionId],
    );
    await make();
    expect(await listed()).toContainEqual(
      expect.objectContaining({ id, done: true, text: TASK.replace("customers", "clients") }),
    );
  });

  it("one that was changed since it was read is left as it is", async () => {
    const { id } = await task();
    const read = jsonBody(await call("getActionItem", id));
    await call("editActionItem", id, { body: { owner: "Ben" } });
    const late = call("editActionItem", id, { body: { done: true }, expected: read });
    expect(await codeOf(late)).toBe("precondition_failed");
    expect(await task()).toMatchObject({ owner: "Ben", done: false });
    const now = jsonBody(await call("getActionItem", id));
    await call("editActionItem", id, { body: { done: true }, expected: now });
    expect(await task()).toMatchObject({ owner: "Ben", done: true });
  });

  it("each change is told to the session's viewers, what is refused is not", async () => {
    const { id } = await task();
    told.length = 0;
    await call("editActionItem", id, { body: { done: true } });
    await codeOf(call("editActionItem", newId(), { body: { done: true } }));
    const command = { type: "AnnotationStored", annotationType: "action_item", annotationId: id };
    expect(told).toEqual([{ id: expect.any(String), sessionId: session.sessionId, command }]);
    const stored = await fixture.sql("select 1 from outbox where id = $1", [told[0]?.id]);
    expect(stored).toHaveLength(1);
  });

  it("refuses what is none, and a change of nothing", async () => {
    const { id } = await task();
    const body = { done: true };
    expect(await codeOf(call("editActionItem", newId(), { body }))).toBe("not_found");
    expect(await codeOf(call("editActionItem", "none", { body }))).toBe("not_found");
    expect(await codeOf(call("editActionItem", id, { body: {} }))).toBe("invalid_body");
    expect(await codeOf(call("getActionItem", newId()))).toBe("not_found");
  });

  it("what people noted goes with the session", async () => {
    const { id } = await task();
    await call("editActionItem", id, { body: { owner: "Ben" } });
    const deletion = new PostgresSessionDeletion(fixture.pool, DELETION_PARTS);
    await deletion.erase(session.sessionId, "account_erasure_session_redacted", {
      kind: "system",
    });
    const left = await fixture.sql("select 1 from action_item_edits where session_id = $1", [
      session.sessionId,
    ]);
    expect(left).toEqual([]);
  });
});
