import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { QuestionFixture, type Told } from "../support/question-fixture.ts";
import { codeOf } from "../support/route-call.ts";

describe("workspace search", () => {
  let queries: QuestionFixture;
  let owner: UserPrincipal;
  let member: UserPrincipal;
  let workspaceId: string;
  let first: Told;
  let second: Told;

  beforeAll(async () => {
    queries = await QuestionFixture.open();
    const { fixture } = queries;
    owner = await fixture.user("participant", "Olga Owner");
    member = await fixture.user();
    workspaceId = await fixture.workspace(owner.id);
    await fixture.join(workspaceId, member.id);
    first = await queries.tell(workspaceId, owner, [
      ["S1", "the reports are due on monday"],
      ["S2", "one report & another report"],
      ["S1", "nothing else"],
    ]);
    second = await queries.tell(workspaceId, owner, [["S1", "the final report is good news"]]);
    await queries.claim(first.sessionId, "S1", owner.id);
  });
  afterAll(() => queries?.close());

  const find = async (query: Record<string, unknown>, caller = owner) =>
    (await queries.search(caller, workspaceId, query)).items.map(({ segment_id }) => segment_id);

  it("finds words in all their forms, marks them and says when they were said", async () => {
    const { items } = await queries.search(owner, workspaceId, { q: "reporting monday" });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      session_id: first.sessionId,
      segment_id: first.segmentIds[0],
      start_ms: 0,
      speaker_label: "S1",
      speaker_name: "Olga Owner",
      text: "the reports are due on monday",
      snippet: "the <mark>reports</mark> are due on <mark>monday</mark>",
    });
    expect(items[0]?.said_at).toMatch(/^\d{4}-.*Z$/);
  });

  it("escapes what was said", async () => {
    const { items } = await queries.search(owner, workspaceId, { q: "another" });
    expect(items[0]?.snippet).toBe("one report &amp; <mark>another</mark> report");
    expect(items[0]).not.toHaveProperty("speaker_name");
  });

  it("shows all that was said, also what looks like a tag", async () => {
    const { sessionId } = await queries.tell(workspaceId, owner, [
      ["S1", "write <b>bold</b> if 1 < 2 <br>"],
    ]);
    const { items } = await queries.search(owner, workspaceId, {
      q: "bold",
      session_id: sessionId,
    });
    expect(items[0]?.snippet).toBe(
      "write &lt;b&gt;<mark>bold</mark>&lt;/b&gt; if 1 &lt; 2 &lt;br&gt;",
    );
  });

  it("understands phrases, or, and not; takes any text", async () => {
    expect(await find({ q: '"final report"' })).toEqual(second.segmentIds);
    expect(await find({ q: "news or monday" })).toHaveLength(2);
    expect(await find({ q: "report -final" })).toHaveLength(2);
    for (const q of ["'", "the", "a & | !", ":*", '"', "((", "%_\\"]) {
      expect(await find({ q })).toEqual([]);
    }
  });

  it("filters by speaker, session and time", async () => {
    expect(await find({ q: "report", speaker: "s2" })).toEqual([first.segmentIds[1]]);
    expect(await find({ q: "report", speaker: "olga" })).toEqual([first.segmentIds[0]]);
    expect(await find({ q: "report", session_id: second.sessionId })).toEqual(second.segmentIds);
    const { items } = await queries.search(owner, workspaceId, { q: "another" });
    const at = String(items[0]?.said_at);
    const inFirst = { q: "report", session_id: first.sessionId };
    expect(await find({ ...inFirst, from: at })).toEqual([first.segmentIds[1]]);
    expect(await find({ ...inFirst, to: at })).toEqual([first.segmentIds[0]]);
    expect(await codeOf(find({ q: "report", from: "yesterday" }))).toBe("invalid_parameter");
    expect(await codeOf(find({ q: "report", session_id: "x" }))).toBe("invalid_parameter");
  });

  it("pages through every hit once", async () => {
    const all = await find({ q: "report" });
    expect(all).toHaveLength(3);
    const paged: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await queries.search(owner, workspaceId, { q: "report", limit: 1, cursor });
      paged.push(...page.items.map(({ segment_id }) => segment_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(paged).toEqual(all);
    expect(await codeOf(find({ q: "report", cursor: "x" }))).toBe("invalid_parameter");
  });

  it("filters by what the session is, and counts", async () => {
    const inFirst = { q: "report", session_id: first.sessionId };
    const { sessionId } = first;
    await queries.fixture.sql("update sessions set tags = $2 where id = $1", [
      sessionId,
      ["board", "q3"],
    ]);
    const [{ device_id }] = (await queries.fixture.sql(
      "select device_id from sessions where id = $1",
      [sessionId],
    )) as [{ device_id: string }];
    for (const query of [{ tag: "q3" }, { tag: ["q3", "board"] }, { device_id }]) {
      expect(await find({ q: "report", ...query })).toEqual(await find(inFirst));
    }
    expect(await find({ q: "report", tag: ["q3", "other"] })).toEqual([]);
    expect(await find({ q: "report", status: "completed" })).toEqual([]);
    expect(await find({ q: "report", status: "recording" })).toHaveLength(3);
    expect(await codeOf(find({ q: "report", device_id: "x" }))).toBe("invalid_parameter");
    const counted = await queries.search(owner, workspaceId, {
      q: "report",
      count: true,
      limit: 1,
    });
    expect([counted.items.length, counted.total]).toEqual([1, 3]);
    expect(await queries.search(owner, workspaceId, { q: "report" })).not.toHaveProperty("total");
  });

  it("searches everywhere: what is the person's, shared with them, or opened to them, and no more", async () => {
    const { fixture } = queries;
    const elsewhere = await fixture.workspace(member.id);
    const theirs = await queries.tell(elsewhere, member, [["S1", "a private report"]]);
    const everywhere = async (query: Record<string, unknown>, caller = owner) => {
      const { items } = await queries.searchEverywhere(caller, { q: "report", ...query });
      return items.map(({ segment_id }) => segment_id);
    };
    expect(await everywhere({}, member)).toEqual(theirs.segmentIds);
    expect(await everywhere({})).toEqual(await find({ q: "report" }));
    await fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
      [theirs.sessionId, owner.id],
    );
    expect(await everywhere({})).toHaveLength(4);
    expect(await everywhere({ workspace_id: elsewhere })).toEqual(theirs.segmentIds);
    expect(await everywhere({ workspace_id: workspaceId })).toEqual(await find({ q: "report" }));
    expect(await codeOf(everywhere({ workspace_id: "x" }))).toBe("invalid_parameter");
    await fixture.sql("delete from session_members where session_id = $1", [theirs.sessionId]);
    expect(await everywhere({ workspace_id: elsewhere })).toEqual([]);
    const admin = await fixture.user("admin");
    expect(await everywhere({}, admin)).toEqual([]);
    const elevations = queries.elevations();
    const elevated = async (place: { sessionId?: string; workspaceId?: string }) => {
      const id = newId();
      await elevations.open({
        ...{ id, adminId: admin.id, reason: "To answer a complaint" },
        ...{ ...place, expiresAt: Date.now() + 60_000 },
      });
      const found = await everywhere({}, admin);
      await elevations.end(id, admin);
      return found;
    };
    expect(await elevated({ sessionId: theirs.sessionId })).toEqual(theirs.segmentIds);
    expect(await elevated({ workspaceId: elsewhere })).toEqual(theirs.segmentIds);
    expect(await elevated({ workspaceId })).toEqual(await find({ q: "report" }));
    expect(await elevated({})).toHaveLength(4);
    expect(await everywhere({}, admin)).toEqual([]);
  });

  it("shows a member only what is shared", async () => {
    expect(await find({ q: "report" }, member)).toEqual([]);
    await queries.fixture.sql("update sessions set visibility = 'workspace' where id = $1", [
      second.sessionId,
    ]);
    expect(await find({ q: "report" }, member)).toEqual(second.segmentIds);
  });

  it("uses the dictionary of the session's language", async () => {
    const german = await queries.tell(workspaceId, owner, []);
    await queries.fixture.sql("update sessions set language = 'de-AT' where id = $1", [
      german.sessionId,
    ]);
    const id = await german.story.say("S1", 0, "die häuser am see");
    for (const q of ["häuser", "häusern", "haus"]) expect(await find({ q })).toEqual([id]);
    expect(await find({ q: "am" })).toEqual([]);
  });

  it("finds a segment by its new words after an edit", async () => {
    const told = await queries.tell(workspaceId, owner, [["S1", "we sell shoos"]]);
    await queries.fixture.sql("update segments set text = 'we sell shoes' where id = $1", [
      told.segmentIds[0],
    ]);
    expect(await find({ q: "shoe" })).toEqual(told.segmentIds);
    expect(await find({ q: "shoos" })).toEqual([]);
  });
});
