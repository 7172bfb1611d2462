import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService, type Headers, type Person } from "../../support/attacked-service.ts";
import { createTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";
import { Viewer } from "../../support/viewer.ts";

const REASON = "A complaint about this conversation";

describe("an administrator who stays as a guest when the reason on record has ended", () => {
  let database: TestDatabase;
  let service: AttackedService;
  let owner: Person;
  let workspaceId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await AttackedService.open({}, database);
    owner = await service.addUser();
    workspaceId = await service.addWorkspace(owner.id);
  });
  afterAll(() => service?.close());

  const begin = () =>
    service.addTold(workspaceId, owner.id, [{ label: "S1", text: "a word in confidence" }]);

  /** Over the place, or everything. */
  async function elevate(admin: Person, place: object = {}): Promise<string> {
    const body = { reason: REASON, ...place };
    const made = await service.done("POST", "/admin/content-elevate", admin.headers, body);
    return String(made.elevation_id);
  }

  const end = (elevationId: string, by: Person) =>
    service.done("DELETE", `/admin/content-elevate/${elevationId}`, by.headers);

  const enter = (sessionId: string, headers: Headers) =>
    service.call("POST", "/auth/guest", headers, { session_id: sessionId, display_name: "Gus" });

  async function visit(sessionId: string, headers: Headers = {}): Promise<Headers> {
    const { status, body } = await enter(sessionId, headers);
    expect(status).toBe(201);
    return { authorization: `Bearer ${body.token}` };
  }

  const reads = async (sessionId: string, headers: Headers) =>
    (await service.call("GET", `/sessions/${sessionId}/transcript`, headers)).status;

  async function follow(sessionId: string, headers: Headers): Promise<Viewer> {
    const viewer = await new Viewer(service.liveUrl, headers).opened();
    viewer.send({ type: "Subscribe", session_id: sessionId });
    await viewer.received("Snapshot");
    return viewer;
  }

  it.each(["session", "workspace", "installation"])(
    "is out at once when his elevation of the %s is ended: no socket, no answer, no way back",
    async (place) => {
      const sessionId = await begin();
      const admin = await service.addUser("admin");
      const places: Record<string, object> = {
        session: { session_id: sessionId },
        workspace: { workspace_id: workspaceId },
      };
      const elevationId = await elevate(admin, places[place]);
      const [own, other] = [await visit(sessionId, admin.headers), await visit(sessionId)];
      const [viewer, stays] = [await follow(sessionId, own), await follow(sessionId, other)];
      expect(await reads(sessionId, own)).toBe(200);

      await end(elevationId, await service.addUser("admin"));
      expect(await reads(sessionId, own)).toBe(401);
      expect(await viewer.closed()).toBe(4401);
      expect((await service.call("POST", "/auth/live-ticket", own)).status).toBe(401);

      await elevate(admin, places[place]);
      expect(await reads(sessionId, own)).toBe(401);
      expect(await reads(sessionId, other)).toBe(200);
      expect(stays.closeCode).toBeUndefined();
      stays.socket.close();
    },
  );

  it("keeps what he has under another reason only: each guest goes with the elevation on its entry", async () => {
    const [first, second] = [await begin(), await begin()];
    const admin = await service.addUser("admin");
    const wide = await elevate(admin, { workspace_id: workspaceId });
    const narrow = await elevate(admin, { session_id: first });
    const ofNarrow = await visit(first, admin.headers);
    const ofWide = await visit(second, admin.headers);
    const entries = await service.sql<{ detail: Record<string, string> }>(
      `select detail from audit_log where kind = 'guest_entered' and detail ->> 'account_id' = $1
       order by seq`,
      [admin.id],
    );
    expect(entries.map(({ detail }) => detail)).toEqual([
      { account_id: admin.id, elevation_id: narrow, reason: REASON },
      { account_id: admin.id, elevation_id: wide, reason: REASON },
    ]);
    await end(narrow, admin);
    expect([await reads(first, ofNarrow), await reads(second, ofWide)]).toEqual([401, 200]);
    await end(wide, admin);
    expect(await reads(second, ofWide)).toBe(401);
  });

  it("does not slip in while the elevation is being ended", async () => {
    const sessionId = await begin();
    const admin = await service.addUser("admin");
    const elevationId = await elevate(admin, { session_id: sessionId });
    const ending = new pg.Client({ connectionString: database.serviceUrl });
    await ending.connect();
    try {
      await ending.query("begin");
      await ending.query("update content_elevations set ended_at = now() where id = $1", [
        elevationId,
      ]);
      let answered = false;
      const entering = enter(sessionId, admin.headers).finally(() => {
        answered = true;
      });
      await until(async () => answered || (await waitsForLock()), "answered, or waiting");
      await ending.query("commit");
      const { status, code, body } = await entering;
      const token = { authorization: `Bearer ${body.token}` };
      if (status === 201) expect(await reads(sessionId, token)).toBe(401);
      else expect([status, code]).toEqual([403, "elevation_required"]);
    } finally {
      await ending.end();
    }
  });

  async function waitsForLock(): Promise<boolean> {
    const waiting = await service.sql(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  }

  it.each(["disabled_at = now()", "role = 'participant'"])(
    "is out as well when he is no administrator any more: %s",
    async (change) => {
      const sessionId = await begin();
      const admin = await service.addUser("admin");
      await elevate(admin);
      const own = await visit(sessionId, admin.headers);
      const viewer = await follow(sessionId, own);
      await service.sql(`update users set ${change} where id = $1`, [admin.id]);
      expect(await viewer.closed()).toBe(4401);
      expect(await reads(sessionId, own)).toBe(401);
    },
  );

  it("stays as a guest of a session that he is a member of, whatever elevation ends", async () => {
    const sessionId = await begin();
    const admin = await service.addUser("admin");
    await service.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
      [sessionId, admin.id],
    );
    const elevationId = await elevate(admin, { session_id: sessionId });
    const own = await visit(sessionId, admin.headers);
    await end(elevationId, admin);
    expect(await reads(sessionId, own)).toBe(200);
  });
});
