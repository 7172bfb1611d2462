import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { automaticNotes, NotesStore } from "../../src/conversations/summaries/notes-store.ts";
import { SummaryStore } from "../../src/conversations/summaries/store.ts";
import { NOTE_TYPES } from "../../src/session/status.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import {
  fastRunner,
  LocalSummariser,
  type SpokenSession,
  spokenSession,
} from "../support/summary-fixture.ts";
import { until } from "../support/until.ts";

describe("automatic notes", () => {
  let fixture: SessionFixture;
  let summaries: SummaryStore;
  let notes: ReturnType<typeof automaticNotes>;
  let session: SpokenSession;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    summaries = new SummaryStore(fixture.pool);
    notes = automaticNotes(new NotesStore(fixture.pool), { clock: systemRuntime, log: silentLog });
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    session = await spokenSession(fixture);
    fixture.notified.length = 0;
  });

  const jobs = (condition = "true") =>
    fixture.sql(`select 1 from jobs where session_id = $1 and automatic and ${condition}`, [
      session.sessionId,
    ]);

  /** Has everything that is queued made. */
  async function work(): Promise<void> {
    const runner = fastRunner(fixture, new LocalSummariser());
    runner.start();
    await until(
      async () => (await jobs("status in ('queued', 'running')")).length === 0,
      "the notes",
    );
    await runner.stop();
  }

  const end = () => session.story.tell([{ type: "SessionCompleted" }]);
  const edit = () =>
    session.story.tell([
      {
        type: "SegmentRevised",
        segmentId: session.story.segmentId(0),
        start: 0,
        revision: 2,
        label: "S2",
        byUserId: session.owner.id,
      },
    ]);
  const dueNow = () => fixture.sql("update notes_due set due_at = now()", []);
  const versions = async () => {
    const found = await summaries.latest(session.sessionId);
    return Object.fromEntries(found.map((each) => [each.summaryType, each.version]));
  };
  const all = (version: number) => Object.fromEntries(NOTE_TYPES.map((type) => [type, version]));
  const completing = () =>
    fixture.notified.filter(
      ({ command }) => command.type === "SummaryStored" && command.completesNotes === true,
    );

  it("a session that ends gets all of them, and the last one says so", async () => {
    await notes.ended.run();
    expect(await jobs()).toHaveLength(0);
    await end();
    await notes.ended.run();
    await work();
    expect(await versions()).toEqual(all(1));
    await until(() => fixture.notified.length === NOTE_TYPES.length, "the news");
    expect(completing()).toHaveLength(1);
    await notes.ended.run();
    expect(await jobs()).toHaveLength(NOTE_TYPES.length);
  });

  it("what is being made or will be is listed, until it is there", async () => {
    const pending = () => summaries.pending(session.sessionId);
    expect(await pending()).toEqual([]);
    await end();
    const queued = NOTE_TYPES.map((summaryType) => ({
      summaryType,
      status: "queued",
      progress: 0,
    }));
    expect(await pending()).toEqual(queued);
    await notes.ended.run();
    await fixture.sql(
      "update jobs set status = 'running', progress = 0.5 where session_id = $1 and summary_type = 'topics'",
      [session.sessionId],
    );
    expect(await pending()).toContainEqual({
      ...{ summaryType: "topics", status: "running", progress: 0.5 },
    });
    await fixture.sql("update jobs set status = 'queued' where session_id = $1", [
      session.sessionId,
    ]);
    await work();
    expect(await pending()).toEqual([]);
    await summaries.request(session.sessionId, "speakers");
    expect((await pending()).map(({ summaryType }) => summaryType)).toEqual(["speakers"]);
  });

  it("are stale after a correction, and made again when no other follows", async () => {
    await end();
    await notes.ended.run();
    await work();
    await edit();
    const stale = async () => (await summaries.latest(session.sessionId)).map((each) => each.stale);
    expect(await stale()).toEqual(NOTE_TYPES.map(() => true));
    await notes.ended.run();
    expect(await jobs("status = 'queued'")).toHaveLength(0);
    await dueNow();
    await notes.ended.run();
    await work();
    expect(await versions()).toEqual(all(2));
    expect(await stale()).toEqual(NOTE_TYPES.map(() => false));
  });

  it("wait while a summary is being made of the words as they were", async () => {
    await summaries.request(session.sessionId, "brief");
    await fixture.sql("update jobs set status = 'running' where session_id = $1", [
      session.sessionId,
    ]);
    await end();
    await notes.ended.run();
    expect(await jobs()).toHaveLength(0);
    await fixture.sql("update jobs set status = 'completed' where session_id = $1", [
      session.sessionId,
    ]);
    await dueNow();
    await notes.ended.run();
    expect(await jobs()).toHaveLength(NOTE_TYPES.length);
  });

  it("one that somebody asked for is made once", async () => {
    await summaries.request(session.sessionId, "brief");
    await end();
    await notes.ended.run();
    await work();
    expect(await versions()).toEqual(all(1));
  });

  it("are made while a session is live, at most every five minutes, and complete nothing", async () => {
    await notes.live.run();
    expect(await jobs()).toHaveLength(0);
    await fixture.sql(
      "update sessions set started_at = now() - interval '6 minutes' where id = $1",
      [session.sessionId],
    );
    await notes.live.run();
    await work();
    expect(await versions()).toEqual(all(1));
    await until(() => fixture.notified.length === NOTE_TYPES.length, "the news");
    expect(completing()).toHaveLength(0);
    await session.story.say("S1", 240_000, "and we will meet again on tuesday");
    await notes.live.run();
    expect(await jobs("status = 'queued'")).toHaveLength(0);
    await fixture.sql(
      "update jobs set created_at = created_at - interval '6 minutes' where session_id = $1",
      [session.sessionId],
    );
    await notes.live.run();
    expect(await jobs("status = 'queued'")).toHaveLength(NOTE_TYPES.length);
  });

  it.each([
    ["where the workspace has switched them off", "update workspaces set automatic_notes = false"],
    ["of a session without words", "delete from segments where session_id = $1"],
    [
      "of a call of another service's client",
      "update sessions set compat = 'openai' where id = $1",
    ],
  ])("none %s", async (_, statement) => {
    await fixture.sql(statement, statement.includes("$1") ? [session.sessionId] : []);
    await end();
    await notes.ended.run();
    expect(await jobs()).toHaveLength(0);
    await fixture.sql("update workspaces set automatic_notes = true", []);
  });

  it("only the newest versions are kept", async () => {
    await end();
    for (let version = 1; version <= 12; version += 1) {
      await fixture.sql(
        `insert into notes_due (session_id, due_at) values ($1, now()) on conflict do nothing`,
        [session.sessionId],
      );
      await notes.ended.run();
      await work();
    }
    expect(await versions()).toEqual(all(12));
    expect(await jobs("summary_type = 'brief'")).toHaveLength(10);
  });
});
