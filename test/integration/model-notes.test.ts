import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { automaticNotes, NotesStore } from "../../src/conversations/summaries/notes-store.ts";
import { SummaryStore } from "../../src/conversations/summaries/store.ts";
import type { ModelWork, SummariseRequest, Summary } from "../../src/wire/gen/voice/v1/text.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import {
  fastRunner,
  LocalSummariser,
  type SpokenSession,
  spokenSession,
} from "../support/summary-fixture.ts";
import { until } from "../support/until.ts";

/** By rule, with what a worker tells of its language model. */
class ModelSummariser extends LocalSummariser {
  work: ModelWork = { name: "small", outcome: "worded", dropped: 2, tokens: 700 };

  override async summarise(...given: Parameters<LocalSummariser["summarise"]>): Promise<Summary> {
    const summary = await super.summarise(...given);
    if (this.last?.later === true) {
      return { ...summary, model: { name: "small", outcome: "later", dropped: 0, tokens: 0 } };
    }
    const { outcome } = this.work;
    return { ...summary, ...(outcome === "worded" && { engine: "grounded-1" }), model: this.work };
  }

  get last(): SummariseRequest["model"] {
    return this.requests.at(-1)?.model;
  }
}

describe("notes by a language model: the record", () => {
  let fixture: SessionFixture;
  let summaries: SummaryStore;
  let session: SpokenSession;
  let summariser: ModelSummariser;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    summaries = new SummaryStore(fixture.pool);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    session = await spokenSession(fixture);
    summariser = new ModelSummariser();
    fixture.notified.length = 0;
  });

  const jobs = async (condition = "true") =>
    (await fixture.sql(
      `select id, status, error, summary_type, model_attempt, extract(epoch from due_at - now())::float as wait
       from jobs where session_id = $1 and kind = 'summarisation' and ${condition} order by id`,
      [session.sessionId],
    )) as { status: string; error: string; model_attempt: number; wait: number }[];
  const isDue = "status in ('queued', 'running') and due_at <= now() + interval '1 second'";
  const workspace = async () => {
    const [row] = await fixture.sql("select workspace_id from sessions where id = $1", [
      session.sessionId,
    ]);
    return String(row?.workspace_id);
  };
  const edit = async (body: object, principal = session.owner) => {
    const params = { id: await workspace() };
    return jsonBody(await callRoute(fixture.routes, "editWorkspace", { principal, params, body }));
  };
  const brief = async () =>
    (await summaries.latest(session.sessionId)).find(({ summaryType }) => summaryType === "brief");

  async function work(dailyTokens = 1_000_000): Promise<void> {
    const runner = fastRunner(fixture, summariser, { dailyTokens });
    runner.start();
    await until(async () => (await jobs(isDue)).length === 0, "the notes");
    await runner.stop();
  }

  const again = () =>
    fixture.sql("update jobs set due_at = now() where session_id = $1 and status = 'queued'", [
      session.sessionId,
    ]);

  it("tells the model, and how many of its sentences were dropped", async () => {
    await summaries.request(session.sessionId, "brief");
    await work();
    expect(summariser.requests.map(({ model }) => model?.later)).toEqual([true, false]);
    expect(await brief()).toMatchObject({
      ...{ engine: "grounded-1", version: 2, model: "small", droppedSentences: 2 },
    });
    summariser.work = { ...summariser.work, outcome: "nothing_borne", dropped: 5 };
    await summaries.request(session.sessionId, "brief");
    await work();
    const shown = await brief();
    expect(shown).toMatchObject({ version: 4, droppedSentences: 5 });
    expect(shown?.model).toBeUndefined();
    expect(shown?.engine).toMatch(/^extractive-/);
  });

  it("text may leave when the workspace's owner says so, which is audited", async () => {
    await summaries.request(session.sessionId, "brief");
    await work();
    expect(summariser.last).toMatchObject({ mayLeave: false, tenant: session.owner.id });
    expect(await edit({ remote_text: true })).toMatchObject({ remote_text: true });
    await summaries.request(session.sessionId, "brief");
    await work();
    expect(summariser.last?.mayLeave).toBe(true);
    expect(
      await fixture.sql(
        "select actor_id, detail from audit_log where workspace_id = $1 and kind = 'remote_text_changed'",
        [await workspace()],
      ),
    ).toEqual([{ actor_id: session.owner.id, detail: { before: false, after: true } }]);
  });

  it("this leave is given by owners, not by administrators", async () => {
    const admin = await fixture.user("admin");
    expect(await codeOf(edit({ remote_text: true }, admin))).toBe("elevation_required");
    await edit({ remote_text: true });
    expect(await edit({ remote_text: false }, admin)).toMatchObject({ remote_text: false });
  });

  it("tokens are counted by day for who owns the workspace", async () => {
    await fixture.sql("insert into model_tokens values ($1, current_date - 40, 5)", [
      session.owner.id,
    ]);
    await summaries.request(session.sessionId, "brief");
    await work(1_000);
    expect(summariser.last?.tokens).toBe(1_000);
    await summaries.request(session.sessionId, "decisions");
    await work(1_000);
    expect(summariser.last?.tokens).toBe(300);
    await summaries.request(session.sessionId, "topics");
    await work(1_000);
    expect(summariser.last?.tokens).toBe(0);
    const counted = await fixture.sql("select tokens from model_tokens where tenant = $1", [
      session.owner.id,
    ]);
    expect(counted.map(({ tokens }) => Number(tokens))).toEqual([2_100]);
  });

  it("a model that is away leaves notes by rule, and is tried again ever later", async () => {
    summariser.work = { name: "small", outcome: "away", dropped: 0, tokens: 10 };
    await summaries.request(session.sessionId, "brief");
    await work();
    expect(await brief()).toMatchObject({ version: 1, droppedSentences: 0 });
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const [job] = await jobs("status = 'queued'");
      expect(job?.model_attempt).toBe(attempt + 1);
      waits.push(Math.round((job?.wait ?? 0) / 60));
      await again();
      await work();
    }
    expect(waits).toEqual([1, 4, 16, 64, 256]);
    expect(await jobs("status = 'queued'")).toEqual([]);
    expect(await jobs("model_attempt > 0")).toMatchObject([
      { status: "cancelled", error: expect.stringMatching(/summary by rule stands/) },
    ]);
    expect((await brief())?.version).toBe(1);
  });

  it("when it is back the notes are worded", async () => {
    summariser.work = { name: "small", outcome: "away", dropped: 0, tokens: 0 };
    await summaries.request(session.sessionId, "brief");
    await work();
    summariser.work = { name: "small", outcome: "worded", dropped: 0, tokens: 1 };
    await again();
    await work();
    expect(await brief()).toMatchObject({ version: 2, model: "small" });
    expect(await jobs("status = 'queued'")).toEqual([]);
  });

  it("whoever asks, and words that changed, wait for no model", async () => {
    summariser.work = { name: "small", outcome: "away", dropped: 0, tokens: 0 };
    const first = await summaries.request(session.sessionId, "brief");
    await work();
    const asked = await summaries.request(session.sessionId, "brief");
    expect(asked.id).not.toBe(first.id);
    await work();
    expect((await brief())?.version).toBe(2);
    await session.story.tell([{ type: "SessionCompleted" }]);
    const parts = { clock: systemRuntime, log: silentLog };
    await automaticNotes(new NotesStore(fixture.pool), parts).ended.run();
    await work();
    expect((await brief())?.version).toBe(3);
  });

  it("webhooks hear of the worded notes, and of nothing before", async () => {
    const completing = () =>
      fixture.notified.filter(
        ({ command }) => command.type === "SummaryStored" && command.completesNotes === true,
      );
    await session.story.tell([{ type: "SessionCompleted" }]);
    const parts = { clock: systemRuntime, log: silentLog };
    await automaticNotes(new NotesStore(fixture.pool), parts).ended.run();
    await work();
    await until(() => completing().length > 0, "the news");
    expect(completing()).toHaveLength(1);
    const found = await summaries.latest(session.sessionId);
    expect(found.every(({ model }) => model === "small")).toBe(true);
  });

  it("while a model is away webhooks hear of the notes by rule, and of the worded ones later", async () => {
    const completing = () =>
      fixture.notified.filter(
        ({ command }) => command.type === "SummaryStored" && command.completesNotes === true,
      );
    summariser.work = { name: "small", outcome: "away", dropped: 0, tokens: 0 };
    await session.story.tell([{ type: "SessionCompleted" }]);
    const parts = { clock: systemRuntime, log: silentLog };
    await automaticNotes(new NotesStore(fixture.pool), parts).ended.run();
    await work();
    await until(() => completing().length === 1, "the news of the notes by rule");
    summariser.work = { name: "small", outcome: "worded", dropped: 0, tokens: 0 };
    await again();
    await work();
    await until(() => completing().length === 2, "the news of the worded notes");
    expect(completing()).toHaveLength(2);
  });
});
