import { sql } from "slonik";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EndedRightsStore } from "../../src/access/ended-rights-store.ts";
import type { UserPrincipal } from "../../src/access/principal.ts";
import type { RevocationEvent } from "../../src/access/revocations.ts";
import { createDeferred } from "../../src/base/deferred.ts";
import { newId } from "../../src/base/ids.ts";
import { AccountErasureStore } from "../../src/conversations/erasure/account-erasure-store.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import { SessionMemberStore } from "../../src/conversations/sessions/members-store.ts";
import { SessionEditStore } from "../../src/conversations/sessions/store.ts";
import { ACCOUNT_ENDINGS, DELETION_PARTS, OTHER_TABLES } from "../../src/roles/other-tables.ts";
import { SetupAdminStore } from "../../src/tenancy/accounts/setup-admin-store.ts";
import { ElevationStore } from "../../src/tenancy/audit/elevation-store.ts";
import { WorkspaceMemberStore } from "../../src/tenancy/workspaces/members-store.ts";
import { WorkspaceEditStore } from "../../src/tenancy/workspaces/store.ts";
import { AccountFixture, PASSWORD } from "../support/account-fixture.ts";

const HOUR = 3_600_000;
const MOST = 1_000;
const SYSTEM = { kind: "system" } as const;

let fixture: AccountFixture;
let record: EndedRightsStore;
/** Who has all that can end. */
let ids: Record<"user" | "admin" | "member" | "workspace" | "session" | "guest" | "device", string>;
let principal: UserPrincipal;

beforeAll(async () => {
  fixture = await AccountFixture.open();
  record = new EndedRightsStore(fixture.pool);
});
afterAll(() => fixture?.close());

beforeEach(async () => {
  const [user, admin, member] = [
    await fixture.addUser(),
    await fixture.addUser("admin"),
    await fixture.addUser(),
  ];
  const workspace = await fixture.addWorkspace(user.id);
  await fixture.join(workspace, member.id);
  const session = await fixture.addSession(user.id, workspace);
  const { guest } = await fixture.enter(session, "Visitor");
  const { code } = await fixture.pairing.publish({ serial: newId() }, undefined, newId());
  const approval = { code, workspaceId: workspace, ownerId: user.id, address: newId() };
  const { deviceId: device } = await fixture.pairing.approveWithKey(approval);
  ids = {
    user: user.id,
    admin: admin.id,
    member: member.id,
    workspace,
    session,
    device,
    guest: guest.guestId,
  };
  principal = await signIn(user.email);
});

async function signIn(email: string): Promise<UserPrincipal> {
  const { token } = await fixture.login(email);
  const found = await fixture.asUser(token);
  if (found.kind !== "user") throw new Error("not a user");
  return found;
}

/** What the record tells of `work`. */
async function toldOf(work: () => Promise<unknown>): Promise<RevocationEvent[]> {
  const { snapshot } = await record.since(undefined, MOST);
  await work();
  return (await record.since(snapshot, MOST)).ended.toSorted(byText);
}

const byText = (one: unknown, other: unknown) =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
const ofUser = (userId = ids.user): RevocationEvent => ({ kind: "user", userId });
const ofMember = () => ofUser(ids.member);
const ofAdmin = () => ofUser(ids.admin);
const ofGuest = (): RevocationEvent => ({ kind: "guest", guestId: ids.guest });
const ofDevice = (): RevocationEvent => ({ kind: "device", deviceId: ids.device });
const ofSession = (): RevocationEvent => ({ kind: "session", sessionId: ids.session });
const ofWorkspace = (): RevocationEvent => ({ kind: "workspace", workspaceId: ids.workspace });

async function serviceKey() {
  const wanted = {
    workspaceId: ids.workspace,
    name: "n",
    scopes: ["query"],
    expiresAt: undefined,
  } as const;
  return (await fixture.serviceKeys.issue(principal, wanted)).record;
}

async function elevate(): Promise<string> {
  const id = newId();
  const expiresAt = fixture.clock.now() + HOUR;
  const { admin: adminId, session: sessionId } = ids;
  await new ElevationStore(fixture.pool).open({ id, adminId, sessionId, reason: "r", expiresAt });
  return id;
}

async function shareWithMember(): Promise<void> {
  const { session: sessionId, member: userId } = ids;
  const entry = { kind: "session_member_added", actor: SYSTEM } as const;
  await new SessionMemberStore(fixture.pool, OTHER_TABLES).add(
    { sessionId, userId, relation: "shared" },
    entry,
  );
}

const edit = (change: object) => new SessionEditStore(fixture.pool).change(ids.session, change);
const erase = () =>
  new PostgresSessionDeletion(fixture.pool, DELETION_PARTS).erase(
    ids.session,
    "session_deleted_by_owner",
    SYSTEM,
  );

interface Cause {
  what: string;
  /** What is there before; its result is given to `end`. */
  before?: () => Promise<string>;
  end: (before: string) => Promise<unknown>;
  told: (before: string) => RevocationEvent[];
}

const CAUSES: readonly Cause[] = [
  { what: "logout", end: () => fixture.signIn.logout(principal), told: () => [ofUser()] },
  {
    what: "a changed password, for the other logins",
    before: async () => (await signIn((await fixture.users.find(ids.user))?.email ?? "")).tokenId,
    end: () => fixture.passwordChanges.change(principal, PASSWORD, "another horse"),
    told: () => [ofUser()],
  },
  {
    what: "a password that the set-up sets again",
    end: () => new SetupAdminStore(fixture.pool).setPassword(ids.admin, "hash"),
    told: () => [ofAdmin()],
  },
  {
    what: "a disabled user",
    end: () => fixture.users.setDisabled(ids.user, true),
    told: () => [ofUser()],
  },
  {
    what: "another role",
    end: () =>
      fixture.users.setRole(ids.admin, "participant", { kind: "user_role_changed", actor: SYSTEM }),
    told: () => [ofAdmin()],
  },
  {
    what: "an erased account, its memberships and devices",
    before: async () => {
      await fixture.pool.query(
        sql.unsafe`update sessions set status = 'deleted' where id = ${ids.session}`,
      );
      return "";
    },
    end: () => new AccountErasureStore(fixture.pool, ACCOUNT_ENDINGS).erase(ids.user),
    // The member takes the workspace over.
    told: () => [ofDevice(), ofMember(), ofUser()],
  },
  {
    what: "a guest who leaves",
    end: () => fixture.guests.revoke(ids.guest),
    told: () => [ofGuest()],
  },
  {
    what: "guest access closed",
    end: () => edit({ guestAccess: "closed" }),
    told: () => [ofGuest(), ofSession()],
  },
  {
    what: "a session that is private again",
    before: async () => String(await edit({ visibility: "workspace" })),
    end: () => edit({ visibility: "private" }),
    told: () => [ofSession()],
  },
  {
    what: "a deleted session, for all who had to do with it",
    before: async () => {
      await shareWithMember();
      return elevate();
    },
    end: erase,
    told: () => [ofGuest(), ofMember(), ofAdmin(), ofSession()],
  },
  {
    what: "a member who left the session",
    before: async () => String(await shareWithMember()),
    end: () =>
      new SessionMemberStore(fixture.pool, OTHER_TABLES).remove(ids.session, ids.member, false, {
        kind: "session_member_removed",
        actor: SYSTEM,
      }),
    told: () => [ofMember()],
  },
  {
    what: "a member who left the workspace",
    end: () => new WorkspaceMemberStore(fixture.pool).remove(ids.workspace, ids.member, SYSTEM),
    told: () => [ofMember()],
  },
  {
    what: "another role in the workspace",
    before: async () =>
      new WorkspaceMemberStore(fixture.pool).setRole(ids.workspace, ids.member, "owner", {
        by: SYSTEM,
      }),
    end: () =>
      new WorkspaceMemberStore(fixture.pool).setRole(ids.workspace, ids.member, "member", {
        by: SYSTEM,
      }),
    told: () => [ofMember()],
  },
  {
    what: "a deleted workspace",
    before: async () => String(await erase()),
    end: () => new WorkspaceEditStore(fixture.pool, OTHER_TABLES).remove(ids.workspace, SYSTEM),
    told: () => [ofDevice(), ofMember(), ofUser(), ofWorkspace()],
  },
  {
    what: "an elevation that was ended",
    before: elevate,
    end: async (id) => new ElevationStore(fixture.pool).end(id, principal),
    told: () => [ofAdmin()],
  },
  {
    what: "an unpaired device",
    end: () => fixture.pairing.unpair(ids.device, SYSTEM),
    told: () => [ofDevice()],
  },
  {
    what: "a device's key that runs out sooner, as it has another",
    end: () => fixture.pairing.renew(ids.device),
    told: () => [ofDevice()],
  },
  {
    what: "a revoked service key",
    before: async () => (await serviceKey()).id,
    end: (id) => fixture.serviceKeyBook.revoke(id, { kind: "service_key_revoked", actor: SYSTEM }),
    told: (keyId) => [{ kind: "service_key", keyId }],
  },
  {
    what: "a service key's secret that runs out sooner, as it has another",
    before: async () => (await serviceKey()).id,
    end: async (id) => {
      const key = await fixture.serviceKeyBook.find(id);
      if (key !== undefined) await fixture.serviceKeys.rotate(principal, key, undefined);
    },
    told: (keyId) => [{ kind: "service_key", keyId }],
  },
  {
    what: "rows that go with others: a workspace's, at a prompt",
    before: async () => {
      await erase();
      const { id } = await serviceKey();
      await fixture.pool.query(
        sql.unsafe`delete from sessions where workspace_id = ${ids.workspace}`,
      );
      return id;
    },
    end: () => fixture.pool.query(sql.unsafe`delete from workspaces where id = ${ids.workspace}`),
    told: (keyId) => [ofDevice(), { kind: "service_key", keyId }, ofMember(), ofUser()],
  },
];

describe("ended rights: every cause is told in the transaction that ends the right", () => {
  it.each(CAUSES)("$what", async ({ before, end, told }) => {
    const given = (await before?.()) ?? "";
    expect(await toldOf(() => end(given))).toEqual(told(given).toSorted(byText));
  });

  it("what was rolled back is not told", async () => {
    const told = await toldOf(async () => {
      const failing = fixture.pool.transaction(async (tx) => {
        await tx.query(sql.unsafe`update users set role = 'admin' where id = ${ids.user}`);
        throw new Error("no");
      });
      await failing.catch(() => undefined);
    });
    expect(told).toEqual([]);
  });

  it("what ends no right is not told: turns, signs of life, new rights, ends by time", async () => {
    const { user, member, session, device, workspace } = ids;
    const told = await toldOf(async () => {
      const { pool } = fixture;
      await shareWithMember();
      await elevate();
      const { id: key } = await serviceKey();
      await edit({ title: "Named" });
      await fixture.users.rename(user, "Somebody else");
      await pool.query(
        sql.unsafe`update sessions set seq = 7, has_work = true where id = ${session}`,
      );
      await pool.query(sql.unsafe`update sessions set status = 'failed' where id = ${session}`);
      await pool.query(sql.unsafe`
        insert into guests (id, session_id, display_name, expires_at)
        values (${newId()}, ${session}, 'Long gone', now() - interval '2 days')`);
      await pool.query(sql.unsafe`
        update guests set revoked_at = now() where session_id = ${session} and expires_at < now()`);
      await pool.query(sql.unsafe`update devices set last_seen_at = now() where id = ${device}`);
      await pool.query(sql.unsafe`update service_keys set last_used_at = now() where id = ${key}`);
      await pool.query(sql.unsafe`update workspaces set name = 'Other' where id = ${workspace}`);
      await pool.query(sql.unsafe`
        insert into logins (id, user_id, expires_at) values (${newId()}, ${member}, now() - interval '2 days')`);
      await pool.query(sql.unsafe`delete from logins where expires_at < now() - interval '1 day'`);
    });
    expect(told).toEqual([]);
  });
});

describe("ended rights: reading what is new", () => {
  /** A transaction that has ended this guest's right and is not over; returns how to commit. */
  async function ending(guestId: string): Promise<() => Promise<void>> {
    const written = createDeferred<void>();
    const released = createDeferred<void>();
    const done = fixture.pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`update guests set revoked_at = now() where id = ${guestId}`);
      written.resolve();
      await released.promise;
    });
    await Promise.race([written.promise, done]);
    return async () => {
      released.resolve();
      await done;
    };
  }

  async function guests(count: number): Promise<string[]> {
    const entered = Array.from({ length: count }, () => fixture.enter(ids.session, "V"));
    return (await Promise.all(entered)).map(({ guest }) => guest.guestId);
  }

  it("two transactions that end in the reverse order: each is told, when it is over, once", async () => {
    const [one = "", other = ""] = await guests(2);
    const commitOne = await ending(one);
    const commitOther = await ending(other);
    let last = await record.since(undefined, MOST);
    const look = async () => {
      last = await record.since(last.snapshot, MOST);
      return last.ended;
    };
    expect(await look()).toEqual([]);
    await commitOther();
    expect(await look()).toEqual([{ kind: "guest", guestId: other }]);
    expect(await look()).toEqual([]);
    await commitOne();
    expect(await look()).toEqual([{ kind: "guest", guestId: one }]);
    expect(await look()).toEqual([]);
  });

  it("many at once, with a look between any two: nothing is missed and nothing told twice", async () => {
    const all = await guests(24);
    const told: RevocationEvent[] = [];
    let last = await record.since(undefined, MOST);
    const open: (() => Promise<void>)[] = [];
    for (const [n, guest] of all.entries()) {
      open.push(await ending(guest));
      // Of up to four that are open, now one from the middle, now the newest, now the oldest.
      if (open.length === 4) await open.splice((n * 7) % 4, 1)[0]?.();
      last = await record.since(last.snapshot, MOST);
      told.push(...last.ended);
    }
    for (const commit of open.reverse()) await commit();
    told.push(...(await record.since(last.snapshot, MOST)).ended);
    const expected = all.map((guestId) => ({ kind: "guest", guestId }));
    expect(told.toSorted(byText)).toEqual(expected.toSorted(byText));
  });

  it("no more than are asked for", async () => {
    const { snapshot } = await record.since(undefined, MOST);
    for (const guest of await guests(3)) await fixture.guests.revoke(guest);
    expect((await record.since(snapshot, 2)).ended).toHaveLength(2);
  });

  it("kept for as long as the time between two runs of the pruning, and not for ever", async () => {
    const count = () =>
      fixture.pool.oneFirst(sql.unsafe`select count(*)::int as count from ended_rights`);
    const pruning = new EndedRightsStore(fixture.pool);
    await fixture.guests.revoke(ids.guest);
    const before = await count();
    expect(await pruning.prune()).toBe(0);
    const { snapshot } = await record.since(undefined, MOST);
    const commitLate = await ending((await guests(1))[0] ?? "");
    await fixture.signIn.logout(principal);
    expect(await pruning.prune()).toBe(before);
    await commitLate();
    expect((await record.since(snapshot, MOST)).ended).toHaveLength(2);
    expect(await pruning.prune()).toBe(1);
    expect(await pruning.prune()).toBe(1);
    expect(await count()).toBe(0);
  });

  it("rows of another server, from which the data was copied, are nobody's news and are dropped", async () => {
    const { snapshot } = await record.since(undefined, MOST);
    await fixture.pool.query(sql.unsafe`
      insert into ended_rights (xid, kind, subject)
      values ('999999999999', 'user', ${ids.user})`);
    expect((await record.since(snapshot, MOST)).ended).toEqual([]);
    const pruning = new EndedRightsStore(fixture.pool);
    await pruning.prune();
    await pruning.prune();
    const left = await fixture.pool.exists(sql.unsafe`
      select from ended_rights where xid = '999999999999'`);
    expect(left).toBe(false);
  });
});
