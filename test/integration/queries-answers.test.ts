import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Principal, ServicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { QuestionFixture, type Told } from "../support/question-fixture.ts";
import { codeOf } from "../support/route-call.ts";

describe("queries: access", () => {
  let queries: QuestionFixture;
  let owner: UserPrincipal;
  let member: UserPrincipal;
  let stranger: UserPrincipal;
  let moderator: UserPrincipal;
  let admin: UserPrincipal;
  let workspaceId: string;
  let elsewhere: string;
  let shop: Told;
  let secret: Told;
  let guest: Principal;

  beforeAll(async () => {
    queries = await QuestionFixture.open();
    await queries.work();
    const { fixture } = queries;
    owner = await fixture.user("participant", "Olga Owner");
    member = await fixture.user("participant", "Max Member");
    stranger = await fixture.user("participant");
    moderator = await fixture.user("moderator");
    admin = await fixture.user("admin");
    workspaceId = await fixture.workspace(owner.id);
    elsewhere = await fixture.workspace(stranger.id);
    for (const user of [member, moderator]) await fixture.join(workspaceId, user.id);
    shop = await queries.tell(workspaceId, member, [
      ["S1", "we open the shop on monday"],
      ["S2", "the price of the shoes stays below one hundred dollars"],
    ]);
    secret = await queries.tell(workspaceId, owner, [["S1", "the secret price is ten dollars"]]);
    await queries.tell(elsewhere, stranger, [["S1", "the price of cheese is five dollars"]]);
    guest = await queries.guest(shop.sessionId);
  });
  afterAll(() => queries?.close());
  beforeEach(() => queries.heard());

  const PRICE = "What was said about the price?";
  const cited = (answer: { citations: Record<string, unknown>[] }) =>
    [...new Set(answer.citations.map(({ session_id }) => session_id))].sort();

  it("session: its people and guests may ask, others may not", async () => {
    const { sessionId } = shop;
    for (const principal of [member, moderator, guest]) {
      const answer = await queries.askSession(principal, sessionId, PRICE);
      expect(answer.citations.map(({ segment_id }) => segment_id)).toEqual([shop.segmentIds[1]]);
    }
    const codes = await Promise.all(
      [owner, stranger, admin].map((each) => codeOf(queries.askSession(each, sessionId, PRICE))),
    );
    expect(codes).toEqual(["forbidden", "forbidden", "elevation_required"]);
    expect(await codeOf(queries.askSession(guest, secret.sessionId, PRICE))).toBe("forbidden");
    expect(await codeOf(queries.askSession(member, newId(), PRICE))).toBe("not_found");
  });

  it("session and workspace: nothing is built on words that were not heard clearly", async () => {
    const own = await queries.fixture.workspace(owner.id);
    const { sessionId } = await queries.tell(own, owner, [
      ["S1", "we open the shop on monday"],
      ["S2", "[no on a desktop il find the shit?]"],
    ]);
    const inside = await queries.askSession(owner, sessionId, "What about the desktop?");
    expect(inside).toMatchObject({
      answer:
        "I found nothing about that in this conversation. What was not heard clearly at 00:05 may be about it.",
      citations: [],
    });
    const across = await queries.askWorkspace(owner, own, "What about the desktop?");
    expect(across).toMatchObject({ citations: [] });
    expect(across.answer).toContain("What was not heard clearly in");
  });

  it("workspace: the answer rests on what the caller may read, and on nothing else", async () => {
    expect(cited(await queries.askWorkspace(member, workspaceId, PRICE))).toEqual([shop.sessionId]);
    expect(cited(await queries.askWorkspace(owner, workspaceId, PRICE))).toEqual([
      secret.sessionId,
    ]);
    expect(cited(await queries.askWorkspace(moderator, workspaceId, PRICE))).toEqual(
      [shop.sessionId, secret.sessionId].sort(),
    );
    const none = await queries.askWorkspace(member, workspaceId, "What is the secret?");
    expect(none).toMatchObject({
      answer: "I found nothing about that in these conversations.",
      citations: [],
    });
  });

  it("workspace: strangers, guests and unknown ones", async () => {
    const ask = (principal: Principal, id: string) =>
      codeOf(queries.askWorkspace(principal, id, PRICE));
    expect(await ask(stranger, workspaceId)).toBe("forbidden");
    expect(await ask(guest, workspaceId)).toBe("forbidden");
    expect(await ask(moderator, elsewhere)).toBe("forbidden");
    expect(await ask(member, newId())).toBe("not_found");
    expect(await ask(member, "nonsense")).toBe("not_found");
    expect(await ask(admin, workspaceId)).toBe("elevation_required");
  });

  it("workspace: a service key asks in its own only", async () => {
    const key: ServicePrincipal = {
      kind: "service",
      makerId: newId(),
      secretId: newId(),
      id: newId(),
      workspaceId,
      scopes: ["query"],
      expiresAt: Date.now() + 60_000,
    };
    expect(cited(await queries.askWorkspace(key, workspaceId, PRICE))).toHaveLength(2);
    expect(await codeOf(queries.askWorkspace(key, elsewhere, PRICE))).toBe("not_found");
    const other: ServicePrincipal = { ...key, scopes: ["sessions:read"] };
    expect(await codeOf(queries.askWorkspace(other, workspaceId, PRICE))).toBe("forbidden");
  });

  it("admin: an elevation opens what it covers, and every read is on record", async () => {
    const elevationId = newId();
    const elevations = queries.elevations();
    await elevations.open({
      id: elevationId,
      adminId: admin.id,
      sessionId: secret.sessionId,
      reason: "a complaint was made",
      expiresAt: Date.now() + 60_000,
    });
    const answer = await queries.askWorkspace(admin, workspaceId, PRICE);
    expect(cited(answer)).toEqual([secret.sessionId]);
    const found = await queries.search(admin, workspaceId, { q: "price" });
    expect(found.items.map(({ session_id }) => session_id)).toEqual([secret.sessionId]);
    const reads = await queries.fixture.sql(
      "select session_id from audit_log where kind = 'content_read' and actor_id = $1",
      [admin.id],
    );
    expect(reads).toEqual([{ session_id: secret.sessionId }, { session_id: secret.sessionId }]);
    await elevations.end(elevationId, admin);
    expect(await codeOf(queries.askWorkspace(admin, workspaceId, PRICE))).toBe(
      "elevation_required",
    );
  });
});

describe("queries: answers", () => {
  let queries: QuestionFixture;
  let owner: UserPrincipal;
  let workspaceId: string;

  beforeAll(async () => {
    queries = await QuestionFixture.open();
    await queries.work();
    owner = await queries.fixture.user("participant", "Olga Owner");
    workspaceId = await queries.fixture.workspace(owner.id);
  });
  afterAll(() => queries?.close());
  beforeEach(() => queries.heard());

  it("name the person who claimed the voice, and know who asks", async () => {
    const { sessionId, segmentIds } = await queries.tell(workspaceId, owner, [
      ["S1", "i will write the report"],
      ["S2", "and i will read the report"],
    ]);
    await queries.claim(sessionId, "S1", owner.id);
    const named = await queries.askSession(owner, sessionId, "What did Olga say about the report?");
    expect(named.answer).toBe("Olga Owner said at 00:00: “I will write the report.”");
    expect(named.citations).toEqual([
      {
        session_id: sessionId,
        segment_id: segmentIds[0],
        start_ms: 0,
        end_ms: 1_250,
        speaker_label: "S1",
        speaker_name: "Olga Owner",
        text: "i will write the report",
      },
    ]);
    expect(named.tools_used).toContain("speaker_filter");
    const own = await queries.askSession(owner, sessionId, "What did I promise?");
    expect(own.citations.map(({ segment_id }) => segment_id)).toEqual([segmentIds[0]]);
    const other = await queries.askSession(owner, sessionId, "What did speaker 2 promise?");
    expect(other.citations[0]).not.toHaveProperty("speaker_name");
  });

  it("never hold what was redacted, edited away or deleted", async () => {
    const told = await queries.tell(workspaceId, owner, [
      ["S1", "the password is swordfish"],
      ["S1", "the weather is nice"],
    ]);
    const { sessionId, story, segmentIds } = told;
    const ask = () => queries.askSession(owner, sessionId, "What is the password swordfish?");
    expect((await ask()).citations).toHaveLength(1);
    await queries.fixture.sql(
      "update segments set text = '[redacted-span]', words = '[]', redacted = true where id = $1",
      [segmentIds[0]],
    );
    expect((await ask()).citations).toEqual([]);
    for (const q of ["swordfish", "redacted", "span"]) {
      expect((await queries.search(owner, workspaceId, { q })).items).toEqual([]);
    }
    expect(await queries.fixture.sql("select search::text from segments where redacted")).toEqual([
      { search: "" },
    ]);
    await story.tell([], []);
    await queries.fixture.sql("update sessions set status = 'deleted' where id = $1", [sessionId]);
    const gone = await queries.askWorkspace(owner, workspaceId, "How is the weather?");
    expect(gone.citations).toEqual([]);
    expect((await queries.search(owner, workspaceId, { q: "weather" })).items).toEqual([]);
  });

  it("choose among many sessions by full text, and by day", async () => {
    const { fixture } = queries;
    const workspace = await fixture.workspace(owner.id);
    const told = [];
    for (const thing of ["cheese", "bread", "wine", "salt", "tea", "milk", "oil"]) {
      told.push(await queries.tell(workspace, owner, [["S1", `we buy ${thing} at the market`]]));
    }
    const wine = told[2]?.sessionId;
    const found = await queries.askWorkspace(owner, workspace, "Which sessions mention wine?");
    expect(found.citations.map(({ session_id }) => session_id)).toEqual([wine]);
    expect(found.tools_used).toEqual(
      expect.arrayContaining(["question_planner", "full_text_search", "list_sessions"]),
    );
    const many = await queries.askWorkspace(owner, workspace, "What do we buy at the market?");
    expect(many.tools_used).toContain("full_text_search");
    await fixture.sql("update sessions set started_at = now() - interval '1 day' where id = $1", [
      wine,
    ]);
    const yesterday = await queries.askWorkspace(owner, workspace, "What did we buy yesterday?");
    expect(yesterday.citations.map(({ session_id }) => session_id)).toEqual([wine]);
    expect(yesterday.tools_used).toContain("date_filter");
  });

  it("come for many who ask at once", async () => {
    const { sessionId } = await queries.tell(workspaceId, owner, [["S1", "red shoes"]]);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => queries.askSession(owner, sessionId, "shoes?")),
    );
    expect(new Set(answers.map(({ answer }) => answer)).size).toBe(1);
    expect(answers[0]?.citations).toHaveLength(1);
  });

  it("say that nothing was said where nothing was", async () => {
    const empty = await queries.fixture.workspace(owner.id);
    const answer = await queries.askWorkspace(owner, empty, "What about shoes?");
    expect(answer).toMatchObject({
      citations: [],
      tools_used: ["question_planner", "list_sessions", "segment_reader"],
    });
  });
});

describe("queries: without a worker", () => {
  it("answer 503 within seconds, and search goes on", async () => {
    const queries = await QuestionFixture.open();
    try {
      const owner = await queries.fixture.user();
      const workspaceId = await queries.fixture.workspace(owner.id);
      const { sessionId } = await queries.tell(workspaceId, owner, [["S1", "red shoes"]]);
      const ask = () => queries.askSession(owner, sessionId, "shoes?");
      await expect(ask()).rejects.toMatchObject({
        code: "unavailable",
        message: "No worker is running that could answer questions.",
      });
      // One that is announced but does not answer.
      queries.announce("127.0.0.1:9");
      await expect(ask()).rejects.toMatchObject({ code: "unavailable" });
      expect(await codeOf(queries.askWorkspace(owner, workspaceId, "shoes?"))).toBe("unavailable");
      expect((await queries.search(owner, workspaceId, { q: "shoe" })).items).toHaveLength(1);
    } finally {
      await queries.close();
    }
  });
});
