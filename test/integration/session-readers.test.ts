import { type DatabasePool, type FragmentSqlToken, sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { maySession, mayWorkspace, type SessionAction } from "../../src/access/policy.ts";
import type { Principal } from "../../src/access/principal.ts";
import { systemClock } from "../../src/base/clock.ts";
import { GuestStore } from "../../src/conversations/guests/store.ts";
import { SearchStore } from "../../src/conversations/questions/search-store.ts";
import {
  type SessionFilter,
  SessionListStore,
} from "../../src/conversations/sessions/list-store.ts";
import { nativeTo, SessionStore, visibleTo } from "../../src/conversations/sessions/store.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { CredentialAuthenticator } from "../../src/tenancy/accounts/credential-authenticator.ts";
import { LoginStore } from "../../src/tenancy/accounts/sign-in-store.ts";
import { Tokens } from "../../src/tenancy/accounts/tokens.ts";
import { PairingStore } from "../../src/tenancy/devices/pairing-store.ts";
import { ServiceKeyStore } from "../../src/tenancy/workspaces/service-keys-store.ts";
import { WorkspaceStore } from "../../src/tenancy/workspaces/store.ts";
import { LocalRevocations } from "../support/memory/local-revocations.ts";
import { CALLERS } from "../support/policy-callers.ts";
import { PolicyFixture } from "../support/policy-fixture.ts";
import type { Headers } from "../support/policy-rows.ts";
import { STATES } from "../support/policy-rules.ts";
import { ReadersWorld } from "../support/readers-world.ts";

const SEED = 20_261_129;
const MOST = 1_000;
const NATIVE = ["owner", "participant", "shared"];

const pairRow = z.object({ session: z.string(), reader: z.string(), relation: z.string() });
const idRow = z.object({ id: z.string() });
const giftRow = z.object({ session: z.string().nullable(), inviter: z.string() });

describe("readers of sessions, by the database and by the policy", () => {
  let world: PolicyFixture;
  let made: ReadersWorld;
  let pool: DatabasePool;
  let sessions: SessionStore;
  let authenticator: CredentialAuthenticator;

  beforeAll(async () => {
    world = await PolicyFixture.open();
    const { database, keys } = world.parts;
    pool = await createPool(database.serviceUrl, { maximumPoolSize: 4 });
    made = await ReadersWorld.open(world.parts, SEED);
    sessions = new SessionStore(pool);
    authenticator = new CredentialAuthenticator({
      tokens: new Tokens(keys.ring, systemClock),
      logins: new LoginStore(pool),
      guests: new GuestStore(pool),
      deviceKeys: new PairingStore(pool),
      serviceKeys: new ServiceKeyStore(pool),
      revocations: new LocalRevocations(),
      clock: systemClock,
    });
  }, 300_000);

  afterAll(async () => {
    authenticator?.stop();
    await pool?.end();
    await world?.close();
  });

  /** As the service knows them; undefined when the credential is good for nothing. */
  function callerOf(headers: Headers): Promise<Principal | undefined> {
    return authenticator
      .authenticate(headers, ["bearer", "device_key", "service_key"])
      .catch(() => undefined);
  }

  /** Those of the sessions to which the policy lets the caller do this. */
  async function allowed(
    caller: Principal,
    ids: readonly string[],
    action: SessionAction,
  ): Promise<string[]> {
    const facts = await Promise.all(ids.map((id) => sessions.facts(caller, id)));
    return facts.flatMap((each) =>
      each !== undefined && maySession(caller, action, each) === "allow" ? [each.id] : [],
    );
  }

  async function readers(ids: readonly string[], relations?: readonly string[]) {
    const rows = await pool.any(sql.type(pairRow)`
      select session_id as session, reader_id as reader, relation from session_readers
      where session_id = any(${sql.array([...ids], "uuid")})`);
    const wanted = rows.filter(({ relation }) => relations?.includes(relation) ?? true);
    return new Set(wanted.map(({ session, reader }) => `${session} ${reader}`));
  }

  it("matrix: the database names exactly those callers as readers whom the policy lets read", async () => {
    const ids = STATES.flatMap((state) => {
      return state === "unknown" ? [] : [world.ids(state).session_id ?? ""];
    });
    const expected = new Set<string>();
    for (const caller of CALLERS) {
      for (const state of STATES) {
        const principal = await callerOf(world.headers(caller, state));
        if (principal === undefined) continue;
        for (const id of await allowed(principal, ids, "session.content")) {
          expected.add(`${id} ${principal.id}`);
        }
      }
    }
    const found = await readers(ids);
    // A key that no caller of the matrix shows.
    const target = world.ids("live").api_key_id ?? "";
    expect([...found].filter((pair) => !pair.endsWith(target)).sort()).toEqual(
      [...expected].sort(),
    );
    expect(expected.size).toBeGreaterThan(50);
  }, 300_000);

  it("made: the same of people in every role, membership and state, their devices and keys, and guests", async () => {
    const expected: string[] = [];
    const names = new Map(made.readers.map(({ id, name }) => [id, name]));
    for (const { id, headers } of made.readers) {
      const principal = await callerOf(headers);
      if (principal === undefined) continue;
      expect(principal.id).toBe(id);
      const read = await allowed(principal, made.sessions, "session.content");
      expected.push(...read.map((session) => `${session} ${id}`));
    }
    // Others read them too: who made the workspace, and whoever is elevated for everything.
    const found = [...(await readers(made.sessions))].filter((pair) => names.has(pair.slice(37)));
    const named = (pairs: Iterable<string>) =>
      [...pairs].map((pair) => `${pair} ${names.get(pair.slice(37))}`).sort();
    expect(named(found)).toEqual(named(expected));
    expect(expected.length).toBeGreaterThan(80);
  }, 300_000);

  it("made: conditions on rows of sessions let through what may be read, natively what they are tied to", async () => {
    const through = async (condition: FragmentSqlToken) => {
      const rows = await pool.any(sql.type(idRow)`
        select s.id from sessions s
        where s.id = any(${sql.array(made.sessions, "uuid")}) and ${condition} order by s.id`);
      return rows.map(({ id }) => id);
    };
    const native = await readers(made.sessions, NATIVE);
    for (const { id, name, headers } of made.readers) {
      const caller = await callerOf(headers);
      if (caller === undefined) continue;
      const read = await allowed(caller, made.sessions, "session.read");
      expect(await through(visibleTo(caller)), name).toEqual(read);
      const facts = await Promise.all(made.sessions.map((each) => sessions.facts(caller, each)));
      const tied = facts.flatMap((each) =>
        each !== undefined && !each.deleted && NATIVE.includes(each.relation) ? [each.id] : [],
      );
      if (caller.kind === "user") expect(await through(nativeTo(id)), name).toEqual(tied);
      expect(
        made.sessions.filter((each) => native.has(`${each} ${id}`)),
        name,
      ).toEqual(tied);
    }
  }, 300_000);

  it("made: lists and searches find what may be read", async () => {
    const list = new SessionListStore(pool);
    const search = new SearchStore(pool);
    for (const { name, headers } of made.readers) {
      const caller = await callerOf(headers);
      if (caller?.kind !== "user" && caller?.kind !== "service") continue;
      const read = await allowed(caller, made.sessions, "session.read");
      const idsOf = async (filter: SessionFilter) => {
        const page = { filter, sort: undefined, limit: MOST, after: undefined };
        const { items } = await list.list(caller, page);
        expect(await list.count(caller, { filter }), name).toBe(items.length);
        return items.map((item) => item.id).filter((each) => made.sessions.includes(each));
      };
      // Deleted ones are listed by their status alone, to administrators.
      const listed = [...(await idsOf({})), ...(await idsOf({ status: "deleted" }))];
      expect(listed.sort(), name).toEqual(read);
      if (caller.kind !== "user") continue;
      const reached = (await search.factsOf(caller, MOST)).map((each) => each.id);
      const words = await allowed(caller, made.sessions, "session.content");
      expect(reached, name).toEqual(expect.arrayContaining(words));
    }
  }, 300_000);

  it("made: invitations count by exactly those who may give", async () => {
    await made.inviteByAll();
    const workspaces = new WorkspaceStore(pool);
    const expected: string[] = [];
    for (const { id, headers } of made.people) {
      const caller = await callerOf(headers);
      if (caller === undefined) continue;
      const role = await workspaces.role(made.workspaceId, id);
      const facts = { kind: "workspace", id: made.workspaceId, role } as const;
      if (mayWorkspace(caller, "workspace.give", facts) === "allow") expected.push(`null ${id}`);
      for (const session of made.sessions) {
        const found = await sessions.facts(caller, session);
        if (found === undefined) continue;
        // None of them was made under an elevation.
        const plain = { ...found, elevatedUntil: undefined };
        const verdict = maySession(caller, "session.give", plain);
        if (verdict === "allow") expected.push(`${session} ${id}`);
      }
    }
    const rows = await pool.any(sql.type(giftRow)`
      select i.session_id as session, i.inviter_id as inviter from invitations i
      where i.workspace_id = ${made.workspaceId} and exists (select from inviter_rights(i))`);
    expect(rows.map(({ session, inviter }) => `${session} ${inviter}`).sort()).toEqual(
      expected.sort(),
    );
    expect(expected.length).toBeGreaterThan(3);
  }, 300_000);
});
