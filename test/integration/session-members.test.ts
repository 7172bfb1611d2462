import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { makeWav } from "../support/make-wav.ts";
import { type Call, callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";

describe("sessions of one's own", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    ({ device, owner } = await fixture.ownDevice());
  });
  afterAll(() => fixture.close());

  async function call(id: string, overrides: Call) {
    const reply = await callRoute(fixture.routes, id, { principal: owner, ...overrides });
    return { status: reply.status, body: jsonBody(reply) };
  }

  function create(body: unknown, principal = owner) {
    return call("createSession", { principal, body });
  }

  function stop(sessionId: string, body?: unknown, principal = owner) {
    return call("stopSession", { principal, params: { session_id: sessionId }, body });
  }

  it("create session: with an own device, whose key then uploads to it", async () => {
    const { status, body } = await create({ title: "Interview", device_id: device.id });
    const sessionId = String(body.id);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      title: "Interview",
      language: "en",
      status: "recording",
      owner_id: owner.id,
      device_id: device.id,
      workspace_id: device.workspaceId,
    });
    expect(fixture.notified.at(-1)).toMatchObject({ sessionId, command: { type: "Start" } });
    expect((await fixture.upload(device, sessionId, 0, makeWav({ frames: 160 }))).status).toBe(201);
    expect(await codeOf(create({ device_id: device.id }))).toBe("already_recording");
    const stopped = await stop(sessionId, { last_chunk_sequence: 0 });
    expect(stopped).toEqual({
      status: 200,
      body: { success: true, session_id: sessionId, status: "processing" },
    });
    expect(fixture.notified.at(-1)?.command).toEqual({ type: "Stop", lastSequence: 0 });
    expect(await stop(sessionId)).toEqual(stopped);
    expect(await codeOf(stop(sessionId, { last_chunk_sequence: 5 }))).toBe("conflict");
  });

  it("create session: without a device it takes no uploads, several at a time", async () => {
    const body = { workspace_id: device.workspaceId, language: "en-GB", vocabulary: ["Rüti"] };
    const first = await create(body);
    const second = await create(body);
    expect(first.body).not.toHaveProperty("device_id");
    expect(first.body.language).toBe("en-GB");
    const upload = fixture.upload(device, String(first.body.id), 0, makeWav({ frames: 160 }));
    expect(await codeOf(upload)).toBe("forbidden");
    for (const { body } of [first, second]) await stop(String(body.id));
  });

  it("create session: names what is unknown or not the caller's", async () => {
    const workspace_id = device.workspaceId;
    const stranger = await fixture.user();
    expect(await codeOf(create({}))).toBe("invalid_body");
    expect(await codeOf(create({ workspace_id: newId() }))).toBe("not_found");
    expect(await codeOf(create({ workspace_id: "x" }))).toBe("not_found");
    expect(await codeOf(create({ workspace_id }, stranger))).toBe("forbidden");
    expect(await codeOf(create({ device_id: newId() }))).toBe("not_found");
    await fixture.join(workspace_id, stranger.id);
    expect(await codeOf(create({ device_id: device.id, workspace_id }, stranger))).toBe(
      "forbidden",
    );
    await fixture.sql("update devices set status = 'revoked' where id = $1", [device.id]);
    expect(await codeOf(create({ device_id: device.id }))).toBe("not_paired");
    await fixture.sql("update devices set status = 'paired' where id = $1", [device.id]);
  });

  it("stop session: its owner only, of a device's session too", async () => {
    const sessionId = await fixture.start(device);
    const member = await fixture.user();
    await fixture.sql("insert into session_members values ($1, $2, 'participant')", [
      sessionId,
      member.id,
    ]);
    expect(await codeOf(stop(sessionId, undefined, member))).toBe("forbidden");
    expect(await codeOf(stop(newId()))).toBe("not_found");
    expect((await stop(sessionId)).body.status).toBe("processing");
    const late = fixture.upload(device, sessionId, 0, makeWav({ frames: 160 }));
    expect(await codeOf(late)).toBe("session_ended");
  });
});

describe("session members", () => {
  let fixture: SessionFixture;
  let owner: UserPrincipal;
  let friend: UserPrincipal;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    const paired = await fixture.ownDevice();
    owner = paired.owner;
    friend = await fixture.user("participant", "Frida Friend");
    sessionId = await fixture.start(paired.device);
    await fixture.join(paired.device.workspaceId, friend.id);
  });
  afterAll(() => fixture.close());

  async function call(id: string, overrides: Call) {
    const params = { session_id: sessionId, ...overrides.params };
    const reply = await callRoute(fixture.routes, id, { principal: owner, ...overrides, params });
    return { status: reply.status, body: jsonBody(reply) };
  }

  function add(body: unknown, principal = owner) {
    return call("addSessionMember", { principal, body });
  }

  function remove(userId: string, principal = owner) {
    return call("removeSessionMember", { principal, params: { user_id: userId } });
  }

  function read(principal: UserPrincipal) {
    return call("getSession", { principal });
  }

  function audited() {
    return fixture.sql<Record<string, unknown>>(
      `select kind, actor_id, session_id, subject_id, detail from audit_log
       where session_id = $1 order by seq`,
      [sessionId],
    );
  }

  it("session members: are added with their right, and lose it with their sockets", async () => {
    expect(await codeOf(read(friend))).toBe("forbidden");
    const email = `${friend.id}@example.org`;
    const { status, body } = await add({ user_id: friend.id, relation: "participant" });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      user_id: friend.id,
      email,
      name: "Frida Friend",
      relation: "participant",
    });
    expect(await codeOf(read(friend))).toBe("none");
    expect(await codeOf(add({ user_id: friend.id }))).toBe("conflict");
    expect(await codeOf(add({ user_id: owner.id }))).toBe("conflict");
    expect((await remove(friend.id)).status).toBe(200);
    expect(fixture.revoked).toEqual([{ kind: "session_member", sessionId, userId: friend.id }]);
    expect(await codeOf(read(friend))).toBe("forbidden");
    expect(await codeOf(remove(friend.id))).toBe("not_found");
    const about = { actor_id: owner.id, session_id: sessionId, subject_id: friend.id };
    expect(await audited()).toEqual([
      { kind: "session_member_added", ...about, detail: { relation: "participant" } },
      { kind: "session_member_removed", ...about, detail: {} },
    ]);
  });

  it("session members: only the owner writes, those with access read", async () => {
    const other = await fixture.user();
    await add({ user_id: friend.id });
    expect(await codeOf(add({ user_id: other.id }, friend))).toBe("forbidden");
    expect(await codeOf(remove(friend.id, friend))).toBe("forbidden");
    expect(await codeOf(add({ user_id: other.id }, await fixture.user("admin")))).toBe(
      "elevation_required",
    );
    expect(await codeOf(call("listSessionMembers", { principal: other }))).toBe("forbidden");
    const { body } = await call("listSessionMembers", { principal: friend });
    const items = body.items as { user_id: string; relation: string }[];
    expect(items.map(({ user_id, relation }) => [user_id, relation]).sort()).toEqual(
      [
        [owner.id, "owner"],
        [friend.id, "shared"],
      ].sort(),
    );
    expect(await codeOf(add({}))).toBe("invalid_body");
    const told = { status: "invited", is_mailed: false, link: "/#/invitations" };
    const invited = { status: 202, body: told };
    expect(await add({ user_id: newId() })).toEqual(invited);
    expect(await add({ email: "nobody@example.org" })).toEqual(invited);
    expect(await codeOf(remove("x"))).toBe("not_found");
  });

  it("session members: come in pages", async () => {
    const seen: string[] = [];
    let cursor: unknown;
    do {
      const query = cursor === undefined ? { limit: 1 } : { limit: 1, cursor };
      const { body } = await call("listSessionMembers", { query });
      seen.push(...(body.items as { user_id: string }[]).map(({ user_id }) => user_id));
      cursor = body.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual([friend.id, owner.id].sort().reverse());
  });
});
