import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { automaticNotes, NotesStore } from "../../src/conversations/summaries/notes-store.ts";
import { NOTE_TEMPLATES, NOTE_TYPES } from "../../src/session/status.ts";
import { type Call, callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import {
  fastRunner,
  LocalSummariser,
  type SpokenSession,
  spokenSession,
} from "../support/summary-fixture.ts";
import { until } from "../support/until.ts";

interface Summary {
  summary_type: string;
  version: number;
  stale: boolean;
  items: { text: string; section?: string; segment_ids: string[] }[];
}
interface Page {
  items: Summary[];
  pending: { summary_type: string }[];
  template: { id: string; title: string; sections: object[] };
}

const START = { title: "The start", kind: "custom", instruction: "when they start" };
const BODY = { title: "Launch", sections: [START, { title: "Agreed", kind: "decisions" }] };

describe("templates of notes: the record", () => {
  let fixture: SessionFixture;
  let session: SpokenSession;
  let owner: UserPrincipal;
  let workspaceId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    session = await spokenSession(fixture);
    owner = session.owner;
    workspaceId = session.device.workspaceId;
  });

  const call = async (id: string, options: Call) =>
    jsonBody(await callRoute(fixture.routes, id, { principal: owner, ...options }));
  const params = (template = "standup") => ({ id: workspaceId, template });
  const of = (template?: string, more: Call = {}) => ({ params: params(template), ...more });
  const put = (more: Call = {}) =>
    call("replaceNoteTemplate", of("standup", { body: BODY, ...more }));
  const get = () => call("getNoteTemplate", of());
  const reset = (more: Call = {}) => call("resetNoteTemplate", of("standup", more));
  const here = () => ({ params: { session_id: session.sessionId } });
  const choose = (notes_template: string | null, more: Call = {}) =>
    call("editSession", { ...here(), body: { notes_template }, ...more });
  const page = async () => (await call("listSummaries", here())) as unknown as Page;
  const custom = async () =>
    (await page()).items.find((each) => each.summary_type === "custom_sections");
  const ask = () =>
    call("requestSummary", { ...here(), body: { summary_type: "custom_sections" } });

  /** Has everything that is queued made. */
  async function work(): Promise<void> {
    const runner = fastRunner(fixture, new LocalSummariser());
    runner.start();
    await until(async () => {
      const open = await fixture.sql(
        `select 1 from jobs where session_id = $1 and kind = 'summarisation'
           and status in ('queued', 'running')`,
        [session.sessionId],
      );
      return open.length === 0;
    }, "the notes");
    await runner.stop();
  }

  it("a workspace reads all of them, changes one for itself, and takes the change back", async () => {
    const list = async () =>
      (await call("listNoteTemplates", { params: { id: workspaceId } })).items as { id: string }[];
    const before = await list();
    expect(before.map(({ id }) => id)).toEqual(NOTE_TEMPLATES);
    expect(before.every((each) => "is_changed" in each && each.is_changed === false)).toBe(true);
    const made = await put();
    expect(made).toEqual({
      ...{ id: "standup", ...BODY, is_changed: true },
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(await get()).toEqual(made);
    expect(await list()).toEqual(before.map((each) => (each.id === "standup" ? made : each)));
    const elsewhere = await spokenSession(fixture);
    const others = await callRoute(fixture.routes, "getNoteTemplate", {
      ...{ principal: elsewhere.owner },
      params: { id: elsewhere.device.workspaceId, template: "standup" },
    });
    expect(jsonBody(others)).toEqual(before.find(({ id }) => id === "standup"));
    expect(await reset()).toMatchObject({ success: true });
    expect(await reset()).toMatchObject({ success: true });
    expect(await list()).toEqual(before);
  });

  it("of two who change the same version one is refused", async () => {
    const builtIn = await get();
    const both = await Promise.all([1, 2].map(() => codeOf(put({ expected: builtIn }))));
    expect(both.sort()).toEqual(["none", "precondition_failed"]);
    const own = await get();
    const again = await Promise.all([1, 2].map(() => codeOf(put({ expected: own }))));
    expect(again.sort()).toEqual(["none", "precondition_failed"]);
    expect(await codeOf(reset({ expected: own }))).toBe("precondition_failed");
    expect(await codeOf(reset({ expected: builtIn }))).toBe("precondition_failed");
    expect(await codeOf(reset({ expected: await get() }))).toBe("none");
    expect(await codeOf(reset({ expected: builtIn }))).toBe("none");
    expect(await codeOf(put({ expected: own }))).toBe("precondition_failed");
  });

  it("are read by members, and changed by owners and administrators", async () => {
    const member = await fixture.user();
    await fixture.join(workspaceId, member.id);
    const stranger = await fixture.user();
    const admin = await fixture.user("admin");
    const codes = (id: string) =>
      Promise.all(
        [member, stranger, admin].map((principal) =>
          codeOf(call(id, of("standup", { principal, body: BODY }))),
        ),
      );
    expect(await codes("listNoteTemplates")).toEqual(["none", "forbidden", "none"]);
    expect(await codes("getNoteTemplate")).toEqual(["none", "forbidden", "none"]);
    expect(await codes("replaceNoteTemplate")).toEqual(["forbidden", "forbidden", "none"]);
    expect(await codes("resetNoteTemplate")).toEqual(["forbidden", "forbidden", "none"]);
    expect(await codeOf(call("getNoteTemplate", of("retrospective")))).toBe("not_found");
  });

  it("a session has its own, else its workspace's, else the general one", async () => {
    expect((await page()).template).toMatchObject({ id: "general", title: "General" });
    expect(await call("getSession", here())).not.toHaveProperty("notes_template");
    const edited = await call("editWorkspace", {
      ...{ params: { id: workspaceId }, body: { notes_template: "lecture" } },
    });
    expect(edited.notes_template).toBe("lecture");
    expect((await page()).template.id).toBe("lecture");
    expect((await choose("standup")).notes_template).toBe("standup");
    await put();
    expect((await page()).template).toEqual({ id: "standup", ...BODY });
    expect(await choose(null)).not.toHaveProperty("notes_template");
    expect((await page()).template.id).toBe("lecture");
  });

  it("of two who choose for the same session one is refused", async () => {
    const expected = await call("getSession", here());
    expect(await codeOf(choose("standup", { expected }))).toBe("none");
    expect(await codeOf(choose("lecture", { expected }))).toBe("precondition_failed");
    const member = await fixture.user();
    await fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'participant')",
      [session.sessionId, member.id],
    );
    expect(await codeOf(choose("general", { principal: member }))).toBe("forbidden");
  });

  it("what it wants in the workspace's words is made with the other notes, with its own stale", async () => {
    await put();
    await choose("standup");
    await session.story.tell([{ type: "SessionCompleted" }]);
    const wanted = [...NOTE_TYPES, "custom_sections"];
    expect((await page()).pending.map(({ summary_type }) => summary_type)).toEqual(wanted);
    const parts = { clock: systemRuntime, log: silentLog };
    await automaticNotes(new NotesStore(fixture.pool), parts).ended.run();
    await work();
    expect((await page()).items.map(({ summary_type }) => summary_type).sort()).toEqual(
      wanted.toSorted(),
    );
    expect(await custom()).toMatchObject({
      ...{ version: 1, stale: false },
      items: [{ section: "The start", segment_ids: [session.story.segmentId(160_000)] }],
    });
    // Another heading alone makes it stale, and what is of another type stays.
    await put({ body: { ...BODY, sections: [{ ...START, title: "Begin" }] } });
    const stale = (await page()).items.filter((each) => each.stale);
    expect(stale.map(({ summary_type }) => summary_type)).toEqual(["custom_sections"]);
    await ask();
    await work();
    expect(await custom()).toMatchObject({
      ...{ version: 2, stale: false, items: [{ section: "Begin" }] },
    });
    await session.story.say("S2", 240_000, "one thing more");
    expect((await custom())?.stale).toBe(true);
  });

  it("nothing is asked for, nor made, where it wants nothing in words of its own", async () => {
    expect(await codeOf(ask())).toBe("conflict");
    await choose("standup");
    await ask();
    await choose("general");
    await work();
    expect(await custom()).toMatchObject({ items: [] });
    await session.story.tell([{ type: "SessionCompleted" }]);
    const pending = (await page()).pending.map(({ summary_type }) => summary_type);
    expect(pending).toEqual(NOTE_TYPES);
  });

  it("go with the workspace", async () => {
    await put();
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [session.sessionId]);
    await call("removeWorkspace", { params: { id: workspaceId } });
    const left = await fixture.sql("select 1 from note_templates where workspace_id = $1", [
      workspaceId,
    ]);
    expect(left).toEqual([]);
  });
});
