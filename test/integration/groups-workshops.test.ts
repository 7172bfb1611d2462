import { sql } from "slonik";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DevicePrincipal, Principal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { SegmentStore } from "../../src/conversations/transcript/segments-store.ts";
import { SessionAudio } from "../../src/recognition/session-audio-store.ts";
import type { Route } from "../../src/rest/route.ts";
import { groupRoutes } from "../support/group-routes.ts";
import { beginningOf } from "../support/opening-place.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { NO_FILES } from "../support/verified-audio.ts";

type Body = Record<string, unknown>;

describe("workshops", () => {
  let fixture: SessionFixture;
  let routes: Route[];
  let owner: UserPrincipal;
  let device: DevicePrincipal;
  let workspaceId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    routes = groupRoutes(fixture);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    ({ owner, device } = await fixture.ownDevice());
    workspaceId = device.workspaceId;
  });

  async function ask(
    principal: Principal,
    id: string,
    params: Record<string, string> = {},
    body?: unknown,
  ): Promise<Body> {
    return jsonBody(await callRoute(routes, id, { principal, params, body, query: {} }));
  }

  function create(principal: Principal = owner, name = "The Seagull"): Promise<Body> {
    return ask(principal, "createWorkshop", {}, { workspace_id: workspaceId, name });
  }

  async function addCharacter(workshop: Body, name: string, isActive = true): Promise<Body> {
    const body = { name, description: "A role", is_active: isActive };
    return ask(owner, "createCharacter", { workshop_id: String(workshop.id) }, body);
  }

  it("are made, changed, listed and removed by members of their workspace", async () => {
    const made = await create(owner, "The Seagull");
    expect(made).toEqual({
      id: expect.any(String),
      workspace_id: workspaceId,
      name: "The Seagull",
      description: "",
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const member = await fixture.user();
    await fixture.join(workspaceId, member.id);
    const params = { workshop_id: String(made.id) };
    const changed = await ask(member, "editWorkshop", params, { description: "Spring" });
    expect(changed).toMatchObject({ name: "The Seagull", description: "Spring" });
    expect(await codeOf(ask(member, "editWorkshop", params, {}))).toBe("invalid_body");
    expect((await ask(member, "listWorkshops")).items).toEqual([changed]);
    const stranger = await fixture.user();
    expect((await ask(stranger, "listWorkshops")).items).toEqual([]);
    await ask(member, "removeWorkshop", params);
    expect(await codeOf(ask(member, "getWorkshop", params))).toBe("not_found");
  });

  it("are closed to strangers and unknown ids are 404", async () => {
    const made = await create();
    const stranger = await fixture.user("moderator");
    const params = { workshop_id: String(made.id) };
    for (const id of ["getWorkshop", "removeWorkshop", "listCharacters"]) {
      expect(await codeOf(ask(stranger, id, params))).toBe("forbidden");
      expect(await codeOf(ask(owner, id, { workshop_id: newId() }))).toBe("not_found");
      expect(await codeOf(ask(owner, id, { workshop_id: "nonsense" }))).toBe("not_found");
    }
    expect(await codeOf(create(stranger))).toBe("forbidden");
    expect(await ask(await fixture.user("admin"), "getWorkshop", params)).toEqual(made);
  });

  it("hold characters, each in its own workshop", async () => {
    const workshop = await create();
    const nina = await addCharacter(workshop, "Nina");
    expect(nina).toEqual({
      id: expect.any(String),
      workshop_id: workshop.id,
      name: "Nina",
      description: "A role",
      is_active: true,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const params = { workshop_id: String(workshop.id), character_id: String(nina.id) };
    const body = { name: "Nina Z", description: "", is_active: false };
    const put = await ask(owner, "replaceCharacter", params, body);
    expect(put).toMatchObject({ id: nina.id, ...body });
    expect(await ask(owner, "getCharacter", params)).toEqual(put);
    const only = await callRoute(routes, "listCharacters", {
      principal: owner,
      params,
      query: { is_active: true },
    });
    expect(jsonBody(only).items).toEqual([]);
    const other = { ...params, workshop_id: String((await create()).id) };
    expect(await codeOf(ask(owner, "replaceCharacter", other, body))).toBe("not_found");
    await ask(owner, "removeCharacter", params);
    expect(await codeOf(ask(owner, "getCharacter", params))).toBe("not_found");
  });

  it("take one of two edits that knew the same state", async () => {
    const made = await create();
    const nina = await addCharacter(made, "Nina");
    const params = { workshop_id: String(made.id), character_id: String(nina.id) };
    const rivals = (id: string, expected: Body): Promise<string[]> =>
      Promise.all(
        ["one", "two", "three"].map((name) =>
          codeOf(callRoute(routes, id, { principal: owner, params, expected, body: { name } })),
        ),
      );
    const oneWins = ["none", "precondition_failed", "precondition_failed"];
    expect((await rivals("editWorkshop", made)).toSorted()).toEqual(oneWins);
    expect((await rivals("replaceCharacter", nina)).toSorted()).toEqual(oneWins);
  });

  it("linked to a session: active names join its vocabulary and are suggested", async () => {
    const workshop = await create();
    await addCharacter(workshop, "Trigorin");
    await addCharacter(workshop, "Arkadina");
    await addCharacter(workshop, "Masha", false);
    const sessionId = await fixture.start(device, {
      vocabulary: ["estate", "Arkadina"],
      workshop_id: workshop.id,
    });
    const audio = new SessionAudio(fixture.pool, NO_FILES);
    expect((await audio.opening(beginningOf(sessionId))).vocabulary).toEqual([
      "estate",
      "Arkadina",
      "Trigorin",
    ]);
    const shared = JSON.stringify(["Melikhovo", "ESTATE"]);
    await fixture.pool.query(sql.unsafe`
      update workspaces set vocabulary = ${shared}::jsonb
      where id = (select workspace_id from sessions where id = ${sessionId})`);
    const all = ["estate", "Arkadina", "Trigorin", "Melikhovo"];
    expect((await audio.opening(beginningOf(sessionId))).vocabulary).toEqual(all);
    expect(await new SegmentStore(fixture.pool).vocabulary(sessionId)).toEqual(all);
    const params = { session_id: sessionId };
    expect((await ask(owner, "getSession", params)).workshop_id).toBe(workshop.id);
    const speakers = await ask(owner, "listSpeakers", params);
    expect(speakers).toMatchObject({ items: [], suggested_names: ["Arkadina", "Trigorin"] });
    const guest: Principal = {
      kind: "guest",
      id: newId(),
      role: "guest",
      sessionId,
      displayName: "Gus",
      tokenId: newId(),
      expiresAt: Date.now() + 60_000,
    };
    const invited = await fixture.user();
    await fixture.pool.query(sql.unsafe`
      insert into session_members (session_id, user_id, relation)
      values (${sessionId}, ${invited.id}, 'participant')`);
    for (const outsider of [guest, invited]) {
      expect((await ask(outsider, "listSpeakers", params)).suggested_names).toEqual([]);
    }
    const renamed = await ask(owner, "editSession", params, { title: "Act one" });
    expect(renamed.workshop_id).toBe(workshop.id);
    const unlinked = await ask(owner, "editSession", params, { workshop_id: null });
    expect(unlinked).not.toHaveProperty("workshop_id");
    const linked = await ask(owner, "editSession", params, { workshop_id: workshop.id });
    expect(linked.workshop_id).toBe(workshop.id);
    await ask(owner, "removeWorkshop", { workshop_id: String(workshop.id) });
    expect(await ask(owner, "getSession", params)).not.toHaveProperty("workshop_id");
    expect((await audio.opening(beginningOf(sessionId))).vocabulary).toEqual([
      "estate",
      "Arkadina",
      "Melikhovo",
    ]);
  });

  it("of another workspace cannot be linked, nor unknown ones", async () => {
    const other = await fixture.workspace(owner.id);
    const foreign = await ask(owner, "createWorkshop", {}, { workspace_id: other, name: "B" });
    const start = (workshop_id: unknown) => fixture.start(device, { workshop_id });
    expect(await codeOf(start(foreign.id))).toBe("forbidden");
    expect(await codeOf(start(newId()))).toBe("not_found");
    const params = { session_id: await fixture.start(device) };
    const link = (workshop_id: unknown) => ask(owner, "editSession", params, { workshop_id });
    expect(await codeOf(link(foreign.id))).toBe("forbidden");
    expect(await codeOf(link("nonsense"))).toBe("not_found");
    const moderator = await fixture.user("moderator");
    await fixture.join(workspaceId, moderator.id);
    const own = await create();
    const tried = ask(moderator, "editSession", params, { workshop_id: own.id });
    expect(await codeOf(tried)).toBe("forbidden");
  });
});
