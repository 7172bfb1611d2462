import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConformanceFixture, expectProblem, type Person } from "../support/conformance-fixture.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

/** Contract 4: what ends a right closes its sockets within. */
const SOON_MS = 5_000;
const CONTENT = ["/segments", "/transcript", "/chunks", "/summaries", "/graph", "/completeness"];

/** What each kind of caller may do, one after the other. */
describe("conformance: who may do what", () => {
  let fixture: ConformanceFixture;
  let guest: Person;
  beforeAll(async () => {
    fixture = await ConformanceFixture.open();
    await fixture.record();
    guest = await fixture.guest();
  });
  afterAll(() => fixture?.close());

  const at = (path: string) => `/sessions/${fixture.sessionId}${path}`;

  /** Status and error code of a GET; the audio is looked at only. */
  async function get(path: string, { token }: { token: string }): Promise<string> {
    const response = await fetch(`${fixture.service.api}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    return [response.status, response.headers.get("x-error-code")].filter(Boolean).join(" ");
  }

  async function edit(body: object, { token } = fixture.owner): Promise<void> {
    await fixture.done("PATCH", at(""), { token, body });
  }

  async function follow({ token }: Person, sessionId = fixture.sessionId): Promise<Viewer> {
    const viewer = new Viewer(fixture.service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: sessionId });
    return viewer;
  }

  async function following(person: Person): Promise<Viewer> {
    const viewer = await follow(person);
    await viewer.received("Snapshot");
    return viewer;
  }

  async function expectClosed(viewer: Viewer, code: number): Promise<void> {
    await until(() => viewer.closeCode !== undefined, "the socket to close", SOON_MS);
    expect(viewer.closeCode).toBe(code);
  }

  it("belonging to a workspace alone does not show other people's sessions", async () => {
    for (const path of ["", ...CONTENT, "/audio"]) {
      expect(await get(at(path), fixture.member)).toBe("403 forbidden");
    }
    const { items } = await fixture.done<{ items: object[] }>("GET", "/sessions", {
      token: fixture.member.token,
    });
    expect(items).toEqual([]);
    expect(await get(`/workspaces/${fixture.workspaceId}`, fixture.member)).toBe("200");
  });

  it("owning the workspace alone does not show other people's sessions either", async () => {
    const owner = await fixture.person("participant");
    await fixture.admit(`/workspaces/${fixture.workspaceId}`, owner, { role: "owner" });
    expect(await get(at("/transcript"), owner)).toBe("403 forbidden");
  });

  it("visibility is private by default; workspace shares it with the members", async () => {
    const record = await fixture.done("GET", at(""), { token: fixture.owner.token });
    expect(record.visibility).toBe("private");
    await edit({ visibility: "workspace" });
    expect(await get(at("/transcript"), fixture.member)).toBe("200");
    expect(await get(at("/audio"), fixture.member)).toBe("403 forbidden");
    expect(await get(at("/transcript"), fixture.stranger)).toBe("403 forbidden");
    const viewer = await following(fixture.member);
    await edit({ visibility: "private" });
    await expectClosed(viewer, 4403);
    expect(await get(at("/transcript"), fixture.member)).toBe("403 forbidden");
  });

  it("the owner of a session that a device starts is who paired the device", async () => {
    const record = await fixture.done("GET", at(""), { token: fixture.owner.token });
    expect(record).toMatchObject({ owner_id: fixture.owner.id, device_id: fixture.device.id });
  });

  it("admin: manages everywhere, but content only by native access or elevation", async () => {
    const { token } = fixture.admin;
    expect(await get(at(""), fixture.admin)).toBe("200");
    const paths = [
      "/users",
      "/devices",
      "/admin/audit",
      "/admin/jobs/transcriptions",
      "/workspaces",
    ];
    for (const path of paths) expect(await get(path, fixture.admin)).toBe("200");
    const contents = CONTENT.filter((path) => path !== "/completeness");
    for (const path of [...contents, "/audio"]) {
      expect(await get(at(path), fixture.admin), path).toBe("403 elevation_required");
    }
    const shut = await follow(fixture.admin);
    await expectClosed(shut, 4403);
    const body = { reason: "Complaint 4711", session_id: fixture.sessionId };
    const { elevation_id: id } = await fixture.done("POST", "/admin/content-elevate", {
      token,
      body,
    });
    for (const path of [...contents, "/audio"])
      expect(await get(at(path), fixture.admin)).toBe("200");
    const viewer = await following(fixture.admin);
    await fixture.done("DELETE", `/admin/content-elevate/${id}`, { token });
    await expectClosed(viewer, 4403);
    expect(await get(at("/transcript"), fixture.admin)).toBe("403 elevation_required");
  });

  it("participant: sessions with native access; audio of sessions they own only", async () => {
    for (const path of ["", ...CONTENT, "/audio"]) {
      expect(await get(at(path), fixture.owner), path).toBe("200");
    }
    const person = await fixture.person("participant");
    const { token } = fixture.owner;
    await fixture.admit(at(""), person, { relation: "participant" });
    for (const path of ["", ...CONTENT]) expect(await get(at(path), person), path).toBe("200");
    expect(await get(at("/audio"), person)).toBe("403 forbidden");
    const viewer = await following(person);
    await fixture.done("DELETE", at(`/members/${person.id}`), { token });
    await expectClosed(viewer, 4403);
    expect(await get(at("/transcript"), person)).toBe("403 forbidden");
  });

  it("moderator: content and audio of every session in workspaces they are a member of", async () => {
    for (const path of ["", ...CONTENT, "/audio"]) {
      expect(await get(at(path), fixture.moderator), path).toBe("200");
    }
    const elsewhere = await fixture.person("moderator");
    for (const path of ["", "/transcript", "/audio"]) {
      expect(await get(at(path), elsewhere)).toBe("403 forbidden");
    }
  });

  it("moderator: triages concerns there", async () => {
    const body = { category: "accuracy", description: "The name was misheard." };
    const raised = await fixture.done<{ id: string }>(
      "POST",
      at("/concerns"),
      { token: guest.token, body },
      201,
    );
    const path = `/concerns/${raised.id}`;
    const change = { status: "acknowledged" };
    for (const { token } of [fixture.member, guest]) {
      expectProblem(await fixture.send("PATCH", path, { token, body: change }), 403);
    }
    const { token } = fixture.moderator;
    expect(await fixture.done("PATCH", path, { token, body: change })).toMatchObject(change);
  });

  it("guest: live view and what is listed for guests of one session, no audio, nothing else", async () => {
    const listed = ["", "/segments", "/transcript", "/chunks", "/speakers", "/completeness"];
    for (const path of listed) expect(await get(at(path), guest), path).toBe("200");
    const viewer = await following(guest);
    viewer.socket.close();
    const { token } = guest;
    const question = { token, body: { query: "Who will talk?" } };
    expect((await fixture.send("POST", at("/hirag-query"), question)).status).toBe(200);
    const others = [at("/audio"), at("/summaries"), at("/graph"), at("/members"), "/sessions"];
    const elsewhere = ["/workspaces", "/jobs", "/devices", "/users", "/api-keys", "/workshops"];
    for (const path of [...others, ...elsewhere, `/workspaces/${fixture.workspaceId}`]) {
      expect(await get(path, guest), path).toBe("403 forbidden");
    }
    const edits: [string, string, object][] = [
      ["PATCH", "", { title: "Mine" }],
      ["POST", "/redactions", { speaker_label: "S1" }],
      ["POST", "/speakers/merge", { from: "S2", into: "S1" }],
      ["POST", "/summaries", { summary_type: "brief" }],
      ["POST", "/transcriptions", {}],
    ];
    for (const [method, path, body] of edits) {
      expectProblem(await fixture.send(method, at(path), { token, body }), 403, "forbidden");
    }
    expectProblem(await fixture.send("DELETE", at(""), { token }), 403, "forbidden");
  });

  it("guest: its id may stand in claimed_user_id", async () => {
    const body = {
      speaker_label: "S1",
      source: "moderator_assignment",
      assigned_user_id: guest.id,
    };
    const claim = await fixture.done("POST", at("/speaker-claims"), {
      token: fixture.owner.token,
      body,
    });
    expect(claim.claimed_user_id).toBe(guest.id);
  });

  it("guest: nothing after the session's guest access is closed, by owner or moderator", async () => {
    for (const by of [fixture.owner, fixture.moderator]) {
      const visitor = await fixture.guest();
      const viewer = await following(visitor);
      await edit({ guest_access: "closed" }, by);
      await until(() => viewer.closeCode !== undefined, "the socket to close", SOON_MS);
      expect([4401, 4403]).toContain(viewer.closeCode);
      expect(await get(at("/transcript"), visitor)).toMatch(/^40[13] /);
      await edit({ guest_access: "open" }, by);
    }
    const member = { token: fixture.member.token, body: { guest_access: "closed" } };
    expectProblem(await fixture.send("PATCH", at(""), member), 403, "forbidden");
    guest = await fixture.guest();
  });

  it("device key: its own heartbeat, session, upload and stream; nothing else", async () => {
    const { key } = fixture.device;
    for (const path of [
      at(""),
      at("/transcript"),
      at("/audio"),
      "/sessions",
      "/devices",
      "/auth/me",
    ]) {
      expectProblem(await fixture.send("GET", path, { key }), 401);
    }
    await fixture.done("POST", `/devices/${fixture.device.id}/heartbeat`, { key });
  });

  it("service key: its scopes within one workspace", async () => {
    const { token } = fixture.owner;
    const make = async (scopes: string[]) => {
      const body = { workspace_id: fixture.workspaceId, name: "Archive", scopes };
      const made = await fixture.done<{ key: string }>("POST", "/api-keys", { token, body }, 201);
      return made.key;
    };
    const reader = await make(["sessions:read"]);
    const exporter = await make(["export"]);
    expect((await fixture.send("GET", at(""), { key: reader })).status).toBe(200);
    expect((await fixture.send("GET", at("/segments"), { key: reader })).status).toBe(200);
    expectProblem(await fixture.send("GET", at("/audio"), { key: reader }), 403, "forbidden");
    expectProblem(await fixture.send("DELETE", at(""), { key: reader }), 403, "forbidden");
    expectProblem(await fixture.send("GET", at("/segments"), { key: exporter }), 403, "forbidden");
    const other = await fixture.done<{ id: string }>(
      "POST",
      "/workspaces",
      { token, body: { name: "Other" } },
      201,
    );
    const outside = await fixture.send("GET", `/workspaces/${other.id}`, { key: reader });
    expectProblem(outside, 404, "not_found");
  });

  it("a disabled user is refused within 5 s everywhere, open sockets included (4401)", async () => {
    const person = await fixture.person("participant");
    await fixture.admit(at(""), person);
    const viewer = await following(person);
    await fixture.done("POST", `/users/${person.id}/disable`, { token: fixture.admin.token });
    await expectClosed(viewer, 4401);
    expect(await get(at("/transcript"), person)).toBe("401 invalid_token");
    await fixture.done("POST", `/users/${person.id}/enable`, { token: fixture.admin.token });
  });
});
