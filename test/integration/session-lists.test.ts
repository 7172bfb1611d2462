import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal, Principal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";

/** What each session of the fixture is, oldest first. */
const MADE = [
  { title: "Café planning", started: "2026-01-05T09:00:00.000001Z", seconds: 60 },
  { title: "board meeting", started: "2026-01-05T09:00:00.000002Z", seconds: 3_600 },
  { title: "Ärger über Straße", started: "2026-02-01T00:00:00Z", seconds: 60 },
  { title: "Zebra crossing: A-12", started: "2026-02-10T00:00:00Z", seconds: 0 },
  { title: "", started: "2026-03-01T00:00:00Z", seconds: 5 },
] as const;

describe("lists of sessions", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;
  let admin: UserPrincipal;
  const ids: string[] = [];

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    admin = await fixture.user("admin", "Ada Admin");
    ({ device, owner } = await fixture.ownDevice());
    for (const { title, started, seconds } of MADE) {
      const id = await fixture.start(device, { title });
      ids.push(id);
      await fixture.sql(
        "update sessions set started_at = $2, status = 'completed', stopped_at = now() where id = $1",
        [id, started],
      );
      const length = seconds === 0 ? null : seconds * 1_000;
      await fixture.sql("update jobs set duration_ms = $2 where session_id = $1", [id, length]);
    }
  });
  afterAll(() => fixture.close());

  const call = (query: Record<string, unknown>, principal: Principal = owner) =>
    callRoute(fixture.routes, "listSessions", { principal, query });

  const page = async (query: Record<string, unknown>, principal: Principal = owner) => {
    const body = jsonBody(await call(query, principal));
    const found = (body.items as { id: string }[]).map(({ id }) => ids.indexOf(id));
    return { found, next: body.next_cursor as string | null };
  };

  /** All of them on one page; what is counted must be as many. */
  const found = async (query: Record<string, unknown>, principal: Principal = owner) => {
    const counted = { ...query, count: true, limit: 1 };
    const { total } = jsonBody(await call(counted, principal));
    const all = (await page(query, principal)).found;
    expect(total, "counted").toBe(all.length);
    return all;
  };

  it("titles: are found by beginnings of their words, whatever capitals and accents", async () => {
    expect(await found({ title: "cafe" })).toEqual([0]);
    expect(await found({ title: "PLAN CAFÉ" })).toEqual([0]);
    expect(await found({ title: "uber strasse" })).toEqual([2]);
    expect(await found({ title: "a-12" })).toEqual([3]);
    expect(await found({ title: "afe" })).toEqual([]);
    expect(await found({ title: "cafe meeting" })).toEqual([]);
    expect(await found({ title: "%" })).toEqual([]);
    expect(await found({ title: "' | & ! :* \\" })).toEqual([]);
    expect(await found({ title: "b | c" })).toEqual([]);
  });

  it("titles: are found by what they are now", async () => {
    const id = ids[4];
    await fixture.sql("update sessions set title = 'Renamed' where id = $1", [id]);
    expect(await found({ title: "renamed" })).toEqual([4]);
    await fixture.sql("update sessions set title = '' where id = $1", [id]);
    expect(await found({ title: "renamed" })).toEqual([]);
  });

  it("titles: the longest that letters can grow to are kept", async () => {
    const id = ids[4];
    const longest = "\ufdfa".repeat(200);
    await fixture.sql("update sessions set title = $2 where id = $1", [id, longest]);
    expect(await found({ title: longest })).toEqual([4]);
    const first = await page({ sort: "-title", limit: 1 });
    expect(first.found).toEqual([4]);
    expect((await page({ sort: "-title", limit: 1, cursor: first.next })).found).toEqual([3]);
    await fixture.sql("update sessions set title = '' where id = $1", [id]);
  });

  it("times: a session belongs to the span in which it started, the end excluded", async () => {
    expect(await found({ from: "2026-02-01T00:00:00Z" })).toEqual([4, 3, 2]);
    expect(await found({ to: "2026-02-01T00:00:00Z" })).toEqual([1, 0]);
    expect(await found({ from: "2026-02-01T01:00:00+01:00", to: "2026-02-10T00:00:00Z" })).toEqual([
      2,
    ]);
    expect(await found({ from: "2026-03-01T00:00:00Z", to: "2026-02-01T00:00:00Z" })).toEqual([]);
    expect(await codeOf(call({ from: "2026-02-01T00:00:60Z" }))).toBe("invalid_parameter");
  });

  it("devices: one without sessions has none, no id is a 400", async () => {
    expect(await found({ device_id: device.id })).toEqual([4, 3, 2, 1, 0]);
    expect(await found({ device_id: newId() })).toEqual([]);
    expect(await codeOf(call({ device_id: "x" }))).toBe("invalid_parameter");
  });

  it("orders: each is total, page by page in the same order as at once", async () => {
    const orders: [string | undefined, number[]][] = [
      [undefined, [4, 3, 2, 1, 0]],
      ["-started_at", [4, 3, 2, 1, 0]],
      ["started_at", [0, 1, 2, 3, 4]],
      ["title", [4, 2, 1, 0, 3]],
      ["-title", [3, 0, 1, 2, 4]],
      ["duration", [3, 4, 0, 2, 1]],
      ["-duration", [1, 2, 0, 4, 3]],
    ];
    for (const [sort, all] of orders) {
      expect(await found({ sort }), String(sort)).toEqual(all);
      const seen: number[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const next = await page({ sort, limit: 1, cursor });
        seen.push(...next.found);
        cursor = next.next;
      }
      expect(seen, `${sort} by pages`).toEqual(all);
    }
  });

  it("cursors: go on only with the filters and the order that they were given for", async () => {
    const { next } = await page({ sort: "title", limit: 1 });
    expect(await codeOf(call({ sort: "-title", limit: 1, cursor: next }))).toBe(
      "invalid_parameter",
    );
    expect(await codeOf(call({ sort: "title", title: "b", cursor: next }))).toBe(
      "invalid_parameter",
    );
    expect(await codeOf(call({ cursor: next }))).toBe("invalid_parameter");
    expect((await page({ sort: "title", limit: 2, cursor: next })).found).toEqual([2, 1]);
  });

  it("cursors: what begins meanwhile neither shifts nor repeats anything", async () => {
    const first = await page({ sort: "started_at", limit: 2 });
    const late = await fixture.start(device, { title: "Before all" });
    await fixture.sql(
      "update sessions set started_at = '2025-01-01', status = 'completed' where id = $1",
      [late],
    );
    const rest = await page({ sort: "started_at", cursor: first.next });
    expect([...first.found, ...rest.found]).toEqual([0, 1, 2, 3, 4]);
    await fixture.sql("delete from sessions where id = $1", [late]);
  });

  describe("speakers", () => {
    beforeAll(async () => {
      const claimant = await fixture.user("participant", "Zoë Müller-Lüdenscheidt");
      await fixture.sql(
        `insert into speaker_claims (session_id, label, source, claimed_user_id, by_user_id)
         values ($1, 'S1', 'self_claim', $2, $2)`,
        [ids[1], claimant.id],
      );
      await fixture.sql(
        `insert into speaker_names (id, session_id, label, display_name, by_user_id)
         values (gen_random_uuid(), $1, 'S1', 'The chair', $2),
                (gen_random_uuid(), $1, null, 'Not yet', $2)`,
        [ids[0], owner.id],
      );
      const guestId = newId();
      await fixture.sql(
        `insert into guests (id, session_id, display_name, expires_at)
         values ($1, $2, 'Gästin', now())`,
        [guestId, ids[2]],
      );
      await fixture.sql(
        `insert into speaker_claims (session_id, label, source, claimed_user_id, by_user_id)
         values ($1, 'S1', 'self_claim', $2, $2)`,
        [ids[2], guestId],
      );
    });

    it("speakers: are found by the names that are shown: of accounts, guests, and free ones", async () => {
      expect(await found({ speaker: "zoe luden" })).toEqual([1]);
      expect(await found({ speaker: "CHAIR" })).toEqual([0]);
      expect(await found({ speaker: "gast" })).toEqual([2]);
      expect(await found({ speaker: "not yet" })).toEqual([]);
      expect(await found({ speaker: "zoe chair" })).toEqual([]);
    });

    it("speakers: are found by the account, until the claim is taken back", async () => {
      const [row] = await fixture.sql<{ id: string }>(
        "select claimed_user_id as id from speaker_claims where session_id = $1",
        [ids[1]],
      );
      expect(await found({ speaker_user_id: row?.id })).toEqual([1]);
      await fixture.sql("update speaker_claims set revoked_at = now() where session_id = $1", [
        ids[1],
      ]);
      expect(await found({ speaker_user_id: row?.id })).toEqual([]);
      expect(await found({ speaker: "zoe" })).toEqual([]);
    });

    it("rights: no filter finds a session, its title or its speakers for whoever may not read it", async () => {
      const stranger = await fixture.user();
      const member = await fixture.user();
      await fixture.join(device.workspaceId, member.id);
      const key = { ...service(), workspaceId: newId() };
      const asked = [
        { title: "cafe" },
        { speaker: "chair" },
        { device_id: device.id },
        { from: "2026-01-01T00:00:00Z" },
        { sort: "title" },
        { sort: "duration" },
        { workspace_id: device.workspaceId, title: "cafe", speaker: "chair", sort: "-title" },
      ];
      for (const query of asked) {
        for (const principal of [stranger, member, key]) {
          expect(await found(query, principal), JSON.stringify(query)).toEqual([]);
        }
      }
      expect(await codeOf(call({}, { ...service(), scopes: [] }))).toBe("forbidden");
    });

    it("rights: who sees a session finds it, by whichever way it is theirs", async () => {
      const shared = await fixture.user();
      await fixture.sql(
        "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
        [ids[0], shared.id],
      );
      const member = await fixture.user();
      const moderator = await fixture.user("moderator");
      await fixture.join(device.workspaceId, member.id);
      await fixture.join(device.workspaceId, moderator.id);
      await fixture.sql("update sessions set visibility = 'workspace' where id = $1", [ids[0]]);
      const key = service();
      await fixture.sql(
        "insert into service_keys (id, workspace_id, name, scopes) values ($1, $2, 'Key', $3)",
        [key.id, device.workspaceId, key.scopes],
      );
      for (const principal of [owner, shared, member, moderator, admin, key]) {
        for (const sort of [undefined, "title", "duration", "started_at"]) {
          expect(await found({ speaker: "chair", title: "cafe", sort }, principal)).toEqual([0]);
        }
      }
      await fixture.sql("update sessions set visibility = 'private' where id = $1", [ids[0]]);
      expect(await found({ title: "cafe" }, member)).toEqual([]);
    });

    it("rights: a deleted session is found by nobody, by an administrator without its title", async () => {
      await fixture.sql("update sessions set status = 'deleted', title = '' where id = $1", [
        ids[3],
      ]);
      expect(await found({ sort: "title" })).toEqual([4, 2, 1, 0]);
      expect(await found({ title: "zebra" }, admin)).toEqual([]);
      expect(await found({ status: "deleted", sort: "title" })).toEqual([]);
      expect(await found({ status: "deleted", sort: "title" }, admin)).toEqual([3]);
    });
  });

  function service(): Extract<Principal, { kind: "service" }> {
    return {
      kind: "service",
      id: newId(),
      secretId: newId(),
      workspaceId: device.workspaceId,
      makerId: owner.id,
      scopes: ["sessions:read"],
      expiresAt: Number.POSITIVE_INFINITY,
    };
  }
});
