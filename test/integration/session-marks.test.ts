import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import { eraseMarksOf, eraseMarksWithin } from "../../src/conversations/transcript/marks/store.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";

interface Mark {
  id: string;
  at_ms: number;
  text: string;
  author: { id: string; display_name?: string };
}

describe("marks of a session", () => {
  let fixture: SessionFixture;
  let owner: UserPrincipal;
  let colleague: UserPrincipal;
  let stranger: UserPrincipal;
  let id: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    const own = await fixture.ownDevice();
    owner = own.owner;
    id = await fixture.start(own.device, { title: "Planning" });
    colleague = await fixture.user("participant", "Ada");
    stranger = await fixture.user();
    await fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
      [id, colleague.id],
    );
  });
  afterAll(() => fixture.close());

  const call = async (route: string, principal: Principal, rest: object = {}, markId?: string) => {
    const params = { session_id: id, ...(markId === undefined ? {} : { mark_id: markId }) };
    return callRoute(fixture.routes, route, { principal, params, ...rest });
  };
  const add = async (principal: Principal, body: object) =>
    jsonBody(await call("addMark", principal, { body })) as unknown as Mark;
  const list = async (principal: Principal, query: object = {}) =>
    jsonBody(await call("listMarks", principal, { query })) as unknown as {
      items: Mark[];
      next_cursor: string | null;
    };
  const exported = async (format: string) => {
    const { body } = await call("getTranscript", owner, { query: { format } });
    return Buffer.from(body as Uint8Array).toString();
  };

  it("are made by who may read it, and read by all of them, in order", async () => {
    const later = await add(owner, { at_ms: 9_000, text: "  Ask *Bob* for figures\n" });
    expect(later).toMatchObject({ at_ms: 9_000, text: "Ask *Bob* for figures" });
    const first = await add(colleague, { at_ms: 4_000 });
    expect(first).toMatchObject({ text: "", author: { id: colleague.id, display_name: "Ada" } });
    for (const reader of [owner, colleague]) {
      expect((await list(reader)).items.map((mark) => mark.id)).toEqual([first.id, later.id]);
    }
    const page = await list(owner, { limit: 1 });
    expect(page.items.map((mark) => mark.id)).toEqual([first.id]);
    const next = await list(owner, { limit: 1, cursor: page.next_cursor });
    expect(next).toMatchObject({ items: [{ id: later.id }], next_cursor: null });
    for (const route of ["listMarks", "addMark"]) {
      const body = { at_ms: 1 };
      expect(await codeOf(call(route, stranger, { body }))).toBe("forbidden");
    }
  });

  it("stand in Markdown and JSON, with who wrote them", async () => {
    expect(await exported("md")).toMatch(
      /\n## Marks\n\n- \*\*00:04\*\* \(Ada\)\n- \*\*00:09\*\* Ask \\\*Bob\\\* for figures/,
    );
    expect(JSON.parse(await exported("json")).marks).toMatchObject([
      { at_ms: 4_000, text: "", author: "Ada" },
      { at_ms: 9_000, text: "Ask *Bob* for figures" },
    ]);
    expect(await exported("txt")).not.toContain("Bob");
  });

  it("are changed by their author alone, and deleted by the session's owner, too", async () => {
    const mark = await add(colleague, { at_ms: 5_000, text: "a" });
    const changed = await call("changeMark", colleague, { body: { text: "b" } }, mark.id);
    expect(jsonBody(changed)).toMatchObject({ id: mark.id, at_ms: 5_000, text: "b" });
    expect(await codeOf(call("changeMark", owner, { body: { text: "c" } }, mark.id))).toBe(
      "forbidden",
    );
    const theirs = await add(owner, { at_ms: 6_000 });
    expect(await codeOf(call("removeMark", colleague, {}, theirs.id))).toBe("forbidden");
    for (const { id: gone } of [theirs, mark]) await call("removeMark", owner, {}, gone);
    expect((await list(owner)).items).toHaveLength(2);
    for (const unknown of [mark.id, newId(), "x"]) {
      expect(await codeOf(call("getMark", owner, {}, unknown))).toBe("not_found");
    }
  });

  it("each change of one is told to the session's viewers", async () => {
    fixture.notified.length = 0;
    const mark = await add(colleague, { at_ms: 7_000 });
    await call("changeMark", colleague, { body: { text: "b" } }, mark.id);
    await call("removeMark", owner, {}, mark.id);
    const told = { type: "AnnotationStored", annotationType: "mark", annotationId: mark.id };
    const commands = [told, told, { ...told, removed: true }];
    expect(fixture.notified.map(({ command }) => command)).toEqual(commands);
    const stored = await fixture.sql<{ command: object }>(
      "select command from outbox where session_id = $1 and command ->> 'annotationId' = $2 order by id",
      [id, mark.id],
    );
    expect(stored.map(({ command }) => command)).toEqual(commands);
  });

  it("are 500 of a session at most", async () => {
    await fixture.sql(
      `insert into session_marks (id, session_id, at_ms, text, author_id)
       select gen_random_uuid(), $1, n, '', $2 from generate_series(1, 498) n`,
      [id, owner.id],
    );
    expect(await codeOf(call("addMark", owner, { body: { at_ms: 1 } }))).toBe("conflict");
    expect((await list(owner, { limit: 100 })).items).toHaveLength(100);
  });

  it("go with a redacted span, with their author's account, and with the session", async () => {
    const texts = async () => {
      const rows = await fixture.sql<{ text: string }>(
        "select text from session_marks where session_id = $1 and text <> '' order by at_ms",
        [id],
      );
      return rows.map(({ text }) => text);
    };
    await fixture.sql("delete from session_marks where session_id = $1", [id]);
    for (const [at, text] of [
      [1_000, "before"],
      [2_000, "in"],
      [3_000, "end"],
      [3_100, "after"],
    ]) {
      await add(colleague, { at_ms: at, text });
    }
    await add(owner, { at_ms: 50, text: "the owner's" });
    await eraseMarksWithin(fixture.pool, id, { from: 16_000 * 1.5, to: 16_000 * 3 });
    expect(await texts()).toEqual(["the owner's", "before", "after"]);
    await eraseMarksOf(fixture.pool, colleague.id);
    expect(await texts()).toEqual(["the owner's"]);
    const deletion = new PostgresSessionDeletion(fixture.pool, DELETION_PARTS);
    const actor = { kind: "user", id: owner.id } as const;
    const deleted = await deletion.erase(id, "session_deleted_by_owner", actor);
    expect(deleted?.receipt.removed).toMatchObject({ marks: 1 });
    expect(await texts()).toEqual([]);
  });
});
