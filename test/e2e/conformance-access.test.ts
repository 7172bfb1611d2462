import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConformanceStage, expectProblem, type Person } from "../support/conformance-stage.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

/** Contract 4: what ends a right closes its sockets within. */
const SOON_MS = 5_000;
const CONTENT = ["/segments", "/transcript", "/chunks", "/summaries", "/graph", "/completeness"];

/** What each kind of caller may do, one after the other. */
describe("conformance: who may do what", () => {
  let stage: ConformanceStage;
  let guest: Person;
  beforeAll(async () => {
    stage = await ConformanceStage.open();
    await stage.record();
    guest = await stage.guest();
  });
  afterAll(() => stage?.close());

  const at = (path: string) => `/sessions/${stage.sessionId}${path}`;

  /** Status and error code of a GET; the audio is looked at only. */
  async function get(path: string, { token }: { token: string }): Promise<string> {
    const response = await fetch(`${stage.service.api}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    return [response.status, response.headers.get("x-error-code")].filter(Boolean).join(" ");
  }

  async function edit(body: object, { token } = stage.owner): Promise<void> {
    await stage.done("PATCH", at(""), { token, body });
  }

  async function follow({ token }: Person, sessionId = stage.sessionId): Promise<Viewer> {
    const viewer = new Viewer(stage.service.ready.live_url, { authorization: `Bearer ${token}` });
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
      expect(await get(at(path), stage.member)).toBe("403 forbidden");
    }
    const { items } = await stage.done<{ items: object[] }>("GET", "/sessions", {
      token: stage.member.token,
    });
    expect(items).toEqual([]);
    expect(await get(`/workspaces/${stage.workspaceId}`, stage.member)).toBe("200");
  });

  it("owning the workspace alone does not show other people's sessions either", async () => {
    const owner = await stage.person("participant");
    await stage.done(
      "POST",
      `/workspaces/${stage.workspaceId}/members`,
      { token: stage.owner.token, body: { user_id: owner.id, role: "owner" } },
      201,
    );
    expect(await get(at("/transcript"), owner)).toBe("403 forbidden");
  });

  it("visibility is private by default; workspace shares it with the members", async () => {
    const record = await stage.done("GET", at(""), { token: stage.owner.token });
    expect(record.visibility).toBe("private");
    await edit({ visibility: "workspace" });
    expect(await get(at("/transcript"), stage.member)).toBe("200");
    expect(await get(at("/audio"), stage.member)).toBe("403 forbidden");
    expect(await get(at("/transcript"), stage.stranger)).toBe("403 forbidden");
    const viewer = await following(stage.member);
    await edit({ visibility: "private" });
    await expectClosed(viewer, 4403);
    expect(await get(at("/transcript"), stage.member)).toBe("403 forbidden");
  });

  it("the owner of a session that a device starts is who paired the device", async () => {
    const record = await stage.done("GET", at(""), { token: stage.owner.token });
    expect(record).toMatchObject({ owner_id: stage.owner.id, device_id: stage.device.id });
  });

  it("admin: manages everywhere, but content only by native access or elevation", async () => {
    const { token } = stage.admin;
    expect(await get(at(""), stage.admin)).toBe("200");
    const paths = [
      "/users",
      "/devices",
      "/admin/audit",
      "/admin/jobs/transcriptions",
      "/workspaces",
    ];
    for (const path of paths) expect(await get(path, stage.admin)).toBe("200");
    const contents = CONTENT.filter((path) => path !== "/completeness");
    for (const path of [...contents, "/audio"]) {
      expect(await get(at(path), stage.admin), path).toBe("403 elevation_required");
    }
    const shut = await follow(stage.admin);
    await expectClosed(shut, 4403);
    const body = { reason: "Complaint 4711", session_id: stage.sessionId };
    const { elevation_id: id } = await stage.done("POST", "/admin/content-elevate", {
      token,
      body,
    });
    for (const path of [...contents, "/audio"])
      expect(await get(at(path), stage.admin)).toBe("200");
    const viewer = await following(stage.admin);
    await stage.done("DELETE", `/admin/content-elevate/${id}`, { token });
    await expectClosed(viewer, 4403);
    expect(await get(at("/transcript"), stage.admin)).toBe("403 elevation_required");
  });

  it("participant: sessions with native access; audio of sessions they own only", async () => {
    for (const path of ["", ...CONTENT, "/audio"]) {
      expect(await get(at(path), stage.owner), path).toBe("200");
    }
    const person = await stage.person("participant");
    const { token } = stage.owner;
    const body = { user_id: person.id, relation: "participant" };
    await stage.done("POST", at("/members"), { token, body }, 201);
    for (const path of ["", ...CONTENT]) expect(await get(at(path), person), path).toBe("200");
    expect(await get(at("/audio"), person)).toBe("403 forbidden");
    const viewer = await following(person);
    await stage.done("DELETE", at(`/members/${person.id}`), { token });
    await expectClosed(viewer, 4403);
    expect(await get(at("/transcript"), person)).toBe("403 forbidden");
  });

  it("moderator: content and audio of every session in workspaces they are a member of", async () => {
    for (const path of ["", ...CONTENT, "/audio"]) {
      expect(await get(at(path), stage.moderator), path).toBe("200");
    }
    const elsewhere = await stage.person("moderator");
    for (const path of ["", "/transcript", "/audio"]) {
      expect(await get(at(path), elsewhere)).toBe("403 forbidden");
    }
  });

  it("moderator: triages concerns there", async () => {
    const body = { category: "accuracy", description: "The name was misheard." };
    const raised = await stage.done<{ id: string }>(
      "POST",
      at("/concerns"),
      { token: guest.token, body },
      201,
    );
    const path = `/concerns/${raised.id}`;
    const change = { status: "acknowledged" };
    for (const { token } of [stage.member, guest]) {
      expectProblem(await stage.send("PATCH", path, { token, body: change }), 403);
    }
    const { token } = stage.moderator;
    expect(await stage.done("PATCH", path, { token, body: change })).toMatchObject(change);
  });

  it("guest: live view and what is listed for guests of one session, no audio, nothing else", async () => {
    const listed = ["", "/segments", "/transcript", "/chunks", "/speakers", "/completeness"];
    for (const path of listed) expect(await get(at(path), guest), path).toBe("200");
    const viewer = await following(guest);
    viewer.socket.close();
    const { token } = guest;
    const question = { token, body: { query: "Who will talk?" } };
    expect((await stage.send("POST", at("/hirag-query"), question)).status).toBe(200);
    const others = [at("/audio"), at("/summaries"), at("/graph"), at("/members"), "/sessions"];
    const elsewhere = ["/workspaces", "/jobs", "/devices", "/users", "/api-keys", "/workshops"];
    for (const path of [...others, ...elsewhere, `/workspaces/${stage.workspaceId}`]) {
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
      expectProblem(await stage.send(method, at(path), { token, body }), 403, "forbidden");
    }
    expectProblem(await stage.send("DELETE", at(""), { token }), 403, "forbidden");
  });

  it("guest: its id may stand in claimed_user_id", async () => {
    const body = {
      speaker_label: "S1",
      source: "moderator_assignment",
      assigned_user_id: guest.id,
    };
    const claim = await stage.done("POST", at("/speaker-claims"), {
      token: stage.owner.token,
      body,
    });
    expect(claim.claimed_user_id).toBe(guest.id);
  });

  it("guest: nothing after the session's guest access is closed, by owner or moderator", async () => {
    for (const by of [stage.owner, stage.moderator]) {
      const visitor = await stage.guest();
      const viewer = await following(visitor);
      await edit({ guest_access: "closed" }, by);
      await until(() => viewer.closeCode !== undefined, "the socket to close", SOON_MS);
      expect([4401, 4403]).toContain(viewer.closeCode);
      expect(await get(at("/transcript"), visitor)).toMatch(/^40[13] /);
      await edit({ guest_access: "open" }, by);
    }
    const member = { token: stage.member.token, body: { guest_access: "closed" } };
    expectProblem(await stage.send("PATCH", at(""), member), 403, "forbidden");
    guest = await stage.guest();
  });

  it("device key: its own heartbeat, session, upload and stream; nothing else", async () => {
    const { key } = stage.device;
    for (const path of [
      at(""),
      at("/transcript"),
      at("/audio"),
      "/sessions",
      "/devices",
      "/auth/me",
    ]) {
      expectProblem(await stage.send("GET", path, { key }), 401);
    }
    await stage.done("POST", `/devices/${stage.device.id}/heartbeat`, { key });
  });

  it("service key: its scopes within one workspace", async () => {
    const { token } = stage.owner;
    const make = async (scopes: string[]) => {
      const body = { workspace_id: stage.workspaceId, name: "Archive", scopes };
      const made = await stage.done<{ key: string }>("POST", "/api-keys", { token, body }, 201);
      return made.key;
    };
    const reader = await make(["sessions:read"]);
    const exporter = await make(["export"]);
    expect((await stage.send("GET", at(""), { key: reader })).status).toBe(200);
    expect((await stage.send("GET", at("/segments"), { key: reader })).status).toBe(200);
    expectProblem(await stage.send("GET", at("/audio"), { key: reader }), 403, "forbidden");
    expectProblem(await stage.send("DELETE", at(""), { key: reader }), 403, "forbidden");
    expectProblem(await stage.send("GET", at("/segments"), { key: exporter }), 403, "forbidden");
    const other = await stage.done<{ id: string }>(
      "POST",
      "/workspaces",
      { token, body: { name: "Other" } },
      201,
    );
    const outside = await stage.send("GET", `/workspaces/${other.id}`, { key: reader });
    expectProblem(outside, 404, "not_found");
  });

  it("a disabled user is refused within 5 s everywhere, open sockets included (4401)", async () => {
    const person = await stage.person("participant");
    const { token } = stage.owner;
    await stage.done("POST", at("/members"), { token, body: { user_id: person.id } }, 201);
    const viewer = await following(person);
    await stage.done("POST", `/users/${person.id}/disable`, { token: stage.admin.token });
    await expectClosed(viewer, 4401);
    expect(await get(at("/transcript"), person)).toBe("401 invalid_token");
    await stage.done("POST", `/users/${person.id}/enable`, { token: stage.admin.token });
  });
});
