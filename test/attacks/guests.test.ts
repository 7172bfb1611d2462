import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newDeviceKey, secretHash } from "../../src/access/secrets.ts";
import { newId } from "../../src/base/ids.ts";
import { AttackedService } from "../support/attacked-service.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

type Headers = Readonly<Record<string, string>>;

const MOST_GUESTS = 6;
const UNKNOWN_CODE = `vgc_${"0".repeat(22)}`;

describe("whoever was denied a session, and knows its id", () => {
  let service: AttackedService;
  let owner: { id: string; headers: Headers };
  let workspaceId: string;

  beforeAll(async () => {
    service = await AttackedService.open({ GUESTS_PER_SESSION: String(MOST_GUESTS) });
    owner = await service.addUser();
    workspaceId = await service.addWorkspace(owner.id);
  });
  afterAll(() => service?.close());

  /** A session that records without a device. */
  async function begin(): Promise<string> {
    const body = { workspace_id: workspaceId, title: "T" };
    const begun = await service.call("POST", "/sessions", owner.headers, body);
    expect(begun.status).toBe(201);
    return String(begun.body.id);
  }

  const change = async (sessionId: string, body: object) => {
    const changed = await service.call("PATCH", `/sessions/${sessionId}`, owner.headers, body);
    expect(changed.status).toBe(200);
    return changed.body;
  };

  const enter = (door: string, headers: Headers = {}) =>
    service.call("POST", "/auth/guest", headers, { session_id: door, display_name: "Gus" });

  async function visit(door: string, headers: Headers = {}) {
    const { status, body } = await enter(door, headers);
    expect(status).toBe(201);
    const { id } = body.guest as { id: string };
    return { id, headers: { authorization: `Bearer ${body.token}` }, body };
  }

  async function addCode(sessionId: string, ends: object = {}) {
    const path = `/sessions/${sessionId}/guest-codes`;
    const made = await service.call("POST", path, owner.headers, ends);
    expect(made.status).toBe(201);
    return { id: String(made.body.id), code: String(made.body.code) };
  }

  const reads = async (sessionId: string, headers: Headers) =>
    (await service.call("GET", `/sessions/${sessionId}`, headers)).status;

  const entriesOf = (sessionId: string) =>
    service.sql<{ kind: string; detail: Record<string, string>; subject_id: string }>(
      "select kind, detail, subject_id from audit_log where session_id = $1 order by seq",
      [sessionId],
    );

  /** Everybody who has no right to the words, and shows who they are. */
  async function denied(sessionId: string): Promise<Record<string, Headers>> {
    const [removed, disabled] = [await service.addUser(), await service.addUser()];
    for (const { id } of [removed, disabled]) {
      await service.sql(
        "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
        [sessionId, id],
      );
    }
    await service.sql("delete from session_members where user_id = $1", [removed.id]);
    await service.sql("update users set disabled_at = now() where id = $1", [disabled.id]);
    expect(await reads(sessionId, removed.headers)).toBe(403);
    expect(await reads(sessionId, disabled.headers)).toBe(401);
    return {
      "removed member": removed.headers,
      "disabled user": disabled.headers,
      "device key": await deviceKey(),
      "key with webhooks only": await serviceKey("webhooks"),
      "nobody at all": {},
    };
  }

  async function deviceKey(): Promise<Headers> {
    const [id, key] = [newId(), newDeviceKey()];
    await service.sql(
      `insert into devices (id, serial, status, workspace_id, owner_id, pairing_secret_hash)
       values ($1, 'serial', 'paired', $2, $3, convert_to($4, 'UTF8'))`,
      [id, workspaceId, owner.id, id],
    );
    await service.sql(
      `insert into device_keys (id, device_id, key_hash, expires_at)
       values ($1, $2, $3, now() + interval '1 hour')`,
      [newId(), id, secretHash(key)],
    );
    return { "x-api-key": key };
  }

  async function serviceKey(scope: string): Promise<Headers> {
    const wanted = { workspace_id: workspaceId, name: "Key", scopes: [scope] };
    const made = await service.call("POST", "/api-keys", owner.headers, wanted);
    expect(made.status).toBe(201);
    return { "x-api-key": String(made.body.key) };
  }

  it("as an administrator gets in with a reason on record only, and no longer than that holds", async () => {
    const sessionId = await begin();
    const admin = await service.addUser("admin");
    const refused = await enter(sessionId, admin.headers);
    expect([refused.status, refused.code]).toEqual([403, "elevation_required"]);
    expect((await entriesOf(sessionId)).map(({ kind }) => kind)).toEqual([]);
    const reason = { reason: "A complaint about this session", session_id: sessionId };
    const elevated = await service.call("POST", "/admin/content-elevate", admin.headers, reason);
    expect(elevated.status).toBe(200);
    const { id, body } = await visit(sessionId, admin.headers);
    expect(Date.parse(String(body.expires_at))).toBeLessThanOrEqual(
      Date.parse(String(elevated.body.expires_at)),
    );
    const entries = await entriesOf(sessionId);
    expect(entries.map(({ kind }) => kind)).toEqual([
      "content_elevated",
      "content_read",
      "guest_entered",
    ]);
    expect(entries.at(-1)).toMatchObject({ subject_id: id, detail: { account_id: admin.id } });
  });

  it("gets in while it is open, but is told of, listed, on record, and taken out for good", async () => {
    const sessionId = await begin();
    const viewer = new Viewer(`${service.api.replace(/^http/, "ws")}/live`, owner.headers);
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: sessionId });
    await viewer.received("Snapshot");
    const callers = await denied(sessionId);
    for (const [who, headers] of Object.entries(callers)) {
      const guest = await visit(sessionId, headers);
      const joined = () => viewer.frames.filter(({ type }) => type === "GuestJoined");
      await until(() => joined().some((frame) => frame.guest_id === guest.id), `${who} told of`);
      expect(joined().at(-1)).toMatchObject({ guest_id: guest.id, display_name: "Gus" });
      const entered = (await entriesOf(sessionId)).filter(({ kind }) => kind === "guest_entered");
      expect(entered.map(({ subject_id }) => subject_id)).toContain(guest.id);

      const path = `/sessions/${sessionId}/members`;
      const listed = async () =>
        (await service.call("GET", path, owner.headers)).body.items as { user_id: string }[];
      expect(await listed()).toContainEqual(
        expect.objectContaining({ user_id: guest.id, name: "Gus", relation: "guest" }),
      );
      const own = new Viewer(`${service.api.replace(/^http/, "ws")}/live`, guest.headers);
      await own.opened();
      own.send({ type: "Subscribe", session_id: sessionId });
      await own.received("Snapshot");
      const removed = await service.call("DELETE", `${path}/${guest.id}`, owner.headers);
      expect(removed.status).toBe(200);
      expect(await own.closed()).toBe(4401);
      expect(await reads(sessionId, guest.headers)).toBe(401);
      expect(await listed()).not.toContainEqual(expect.objectContaining({ user_id: guest.id }));
    }
    viewer.socket.close();
  });

  it("leaves what they claimed when they are taken out, marked in lists and exports", async () => {
    const sessionId = await service.addTold(workspaceId, owner.id, [
      { label: "S1", text: "we go on" },
    ]);
    const guest = await visit(sessionId);
    const claim = { speaker_label: "S1", source: "self_claim" };
    const path = `/sessions/${sessionId}`;
    const claimed = await service.call("POST", `${path}/speaker-claims`, guest.headers, claim);
    expect(claimed.status, claimed.text).toBeLessThan(300);
    const speakers = async () =>
      (await service.call("GET", `${path}/speakers`, owner.headers)).body.items;
    const text = async () =>
      (await service.call("GET", `${path}/transcript?format=txt`, owner.headers)).text;
    const own = { speaker_label: "S1", claimed_user_id: guest.id, display_name: "Gus" };
    expect(await speakers()).toMatchObject([{ ...own, guest: true }]);
    expect(await text()).toContain("Gus (guest)");
    await service.call("DELETE", `${path}/members/${guest.id}`, owner.headers);
    expect(await speakers()).toMatchObject([{ ...own, guest: true, guest_removed: true }]);
    expect(await text()).toContain("Gus (removed guest)");
  });

  it.each(["invitation", "closed"])(
    "stays outside when guest access is %s, whatever they show",
    async (access) => {
      const sessionId = await begin();
      await change(sessionId, { guest_access: access });
      const callers = await denied(sessionId);
      const nothing = await enter(newId());
      expect(nothing.status).toBe(404);
      for (const headers of Object.values(callers)) {
        const { status, code, text } = await enter(sessionId, headers);
        if (access === "closed") expect([status, code]).toEqual([403, "guest_access_closed"]);
        else expect([status, text]).toEqual([404, nothing.text]);
      }
      expect(await service.sql("select from guests where session_id = $1", [sessionId])).toEqual(
        [],
      );
    },
  );

  it("cannot tell a code that expired, was used up or was deleted from one that never was", async () => {
    const sessionId = await begin();
    await change(sessionId, { guest_access: "invitation" });
    const [expired, used, deleted] = [
      await addCode(sessionId, { expires_at: new Date(Date.now() + 60_000).toISOString() }),
      await addCode(sessionId, { max_uses: 1 }),
      await addCode(sessionId),
    ];
    await service.sql("update guest_codes set expires_at = now() where id = $1", [expired.id]);
    await visit(used.code);
    const path = `/sessions/${sessionId}/guest-codes/${deleted.id}`;
    expect((await service.call("DELETE", path, owner.headers)).status).toBe(200);
    const answers = await Promise.all(
      [expired.code, used.code, deleted.code, UNKNOWN_CODE, sessionId].map((door) => enter(door)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
  });

  it("gets no more out of a code than its uses, all at once", async () => {
    const sessionId = await begin();
    const { code } = await addCode(sessionId, { max_uses: 3 });
    const statuses = (await Promise.all(Array.from({ length: 24 }, () => enter(code)))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(3);
    expect(statuses.filter((status) => status === 404)).toHaveLength(21);
  });

  it("fills a session with no more guests than may be there, all at once", async () => {
    const sessionId = await begin();
    const answers = await Promise.all(Array.from({ length: 24 }, () => enter(sessionId)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(24 - MOST_GUESTS);
    for (const { status, code, text } of refused) {
      expect([status, code]).toEqual([403, "quota_exceeded"]);
      expect(text).toContain(`There are ${MOST_GUESTS} guests`);
    }
  });

  it("is ended by what would not have let them in, and not revived by what would", async () => {
    const sessionId = await begin();
    const { code, id: codeId } = await addCode(sessionId);
    const [byId, byCode] = [await visit(sessionId), await visit(code)];
    const both = async () =>
      Promise.all([byId, byCode].map(({ headers }) => reads(sessionId, headers)));
    expect(await both()).toEqual([200, 200]);
    await change(sessionId, { guest_access: "invitation" });
    expect(await both()).toEqual([401, 200]);
    await change(sessionId, { guest_access: "open" });
    expect(await both()).toEqual([401, 200]);
    const path = `/sessions/${sessionId}/guest-codes/${codeId}`;
    expect((await service.call("DELETE", path, owner.headers)).status).toBe(200);
    expect(await both()).toEqual([401, 401]);
    const again = await visit(sessionId);
    await change(sessionId, { guest_access: "closed" });
    await change(sessionId, { guest_access: "open" });
    expect(await reads(sessionId, again.headers)).toBe(401);
  });

  it("is ended by the workspace's and the installation's word where the session says nothing", async () => {
    const sessionId = await begin();
    const edit = (access: string | null) =>
      service.call("PATCH", `/workspaces/${workspaceId}`, owner.headers, {
        default_guest_access: access,
      });
    const shown = async () =>
      (await service.call("GET", `/sessions/${sessionId}`, owner.headers)).body.guest_access;
    const { code } = await addCode(sessionId);
    const [byId, byCode] = [await visit(sessionId), await visit(code)];
    expect((await edit("invitation")).body.default_guest_access).toBe("invitation");
    expect(await shown()).toBe("invitation");
    expect((await enter(sessionId)).status).toBe(404);
    // Others hear of it from the record, within seconds.
    await until(async () => (await reads(sessionId, byId.headers)) === 401, "ended", 5_000);
    expect(await reads(sessionId, byCode.headers)).toBe(200);
    await edit(null);
    await service.sql("update installation set guest_access = 'closed'");
    expect(await shown()).toBe("closed");
    await until(async () => (await reads(sessionId, byCode.headers)) === 401, "ended", 5_000);
    await service.sql("update installation set guest_access = 'open'");
    expect((await enter(sessionId)).status).toBe(201);
    expect(await reads(sessionId, byCode.headers)).toBe(401);
    // Its own word goes first.
    await change(sessionId, { guest_access: "open" });
    await edit("closed");
    expect((await enter(sessionId)).status).toBe(201);
    await edit(null);
  });

  it("finds a code nowhere: not in a list, a row, an event or an entry", async () => {
    const sessionId = await begin();
    const path = `/sessions/${sessionId}/guest-codes`;
    const sent = { ...owner.headers, "idempotency-key": newId() };
    const made = await service.call("POST", path, sent, {});
    const code = String(made.body.code);
    expect(Buffer.from(code.slice(4)).length).toBe(22);
    expect((await service.call("POST", path, sent, {})).body).toEqual(made.body);
    await visit(code);
    const listed = await service.call("GET", path, owner.headers);
    expect(listed.body.items).toMatchObject([{ id: made.body.id, uses: 1 }]);
    expect(listed.text).not.toContain(code);
    const tables = await service.sql<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    expect(tables.length).toBeGreaterThan(30);
    for (const { name } of tables) {
      const found = await service.sql(
        `select from "${name}" t where position($1 in t::text) > 0 limit 1`,
        [code],
      );
      expect(found, name).toEqual([]);
    }
  });
});
