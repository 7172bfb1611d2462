import { SCOPES } from "../../src/access/principal.ts";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { Tokens } from "../../src/tenancy/accounts/tokens.ts";
import type { PolicyParts } from "./policy-parts.ts";
import { type Headers, PolicyRows } from "./policy-rows.ts";
import { SeededRandom } from "./seeded-random.ts";

const ROLES = ["participant", "moderator", "admin"] as const;
const MEMBERSHIPS = ["none", "member", "owner", "left"] as const;
const ACCOUNTS = ["active", "disabled", "erased"] as const;
const STATUSES = ["recording", "completed", "deleted"] as const;
const VISIBILITIES = ["private", "workspace"] as const;
const GUEST_ACCESSES = ["open", "invitation", "closed"] as const;
/** How an elevation differs from one of everything that is in force; `$2` is a session. */
const ELEVATIONS = [
  "select $1::uuid, $2::uuid",
  "update content_elevations set session_id = $2 where id = $1",
  "update content_elevations set workspace_id = (select workspace_id from sessions where id = $2) where id = $1",
  "update content_elevations set expires_at = now(), session_id = $2 where id = $1",
  "update content_elevations set ended_at = now(), session_id = $2 where id = $1",
] as const;
const KEY_CHANGES = [
  "select $1::uuid",
  "update service_keys set revoked_at = now() where id = $1",
  "update service_key_secrets set expires_at = now() where key_id = $1",
  "update service_key_secrets set made_as = 'admin' where key_id = $1",
] as const;
const GUEST_CHANGES = [
  "select $1::uuid",
  "update guests set revoked_at = now() where id = $1",
  "update guests set expires_at = now() where id = $1",
] as const;

/** Somebody with a credential, which need not be good for anything any more. */
interface Reader {
  id: string;
  name: string;
  headers: Headers;
}

/** People, keys, devices, guests and sessions of one workspace, tied to each other by chance. */
export class ReadersWorld {
  readonly readers: Reader[] = [];
  readonly people: Reader[] = [];
  readonly sessions: string[] = [];
  readonly #random: SeededRandom;
  readonly #rows: PolicyRows;
  readonly #sql: (text: string, values?: unknown[]) => Promise<unknown>;
  readonly #workspaceId: string;

  private constructor(
    rows: PolicyRows,
    workspaceId: string,
    { sql, seed }: { sql: (text: string, values?: unknown[]) => Promise<unknown>; seed: number },
  ) {
    this.#rows = rows;
    this.#workspaceId = workspaceId;
    this.#sql = sql;
    this.#random = new SeededRandom(seed);
  }

  static async open({ pool, keys }: PolicyParts, seed: number): Promise<ReadersWorld> {
    const sql = (text: string, values: unknown[] = []) => pool.query(text, values);
    const rows = new PolicyRows(sql, new Tokens(keys.ring, systemClock));
    const founder = await rows.addUser("founder", "participant");
    const world = new ReadersWorld(rows, await rows.addWorkspace(founder), { sql, seed });
    await world.#addPeople();
    await world.#addSessions();
    await world.#elevate();
    await world.#addKeys();
    await world.#endAccounts();
    return world;
  }

  get workspaceId(): string {
    return this.#workspaceId;
  }

  /** An invitation by each person to the workspace, and one to each session. */
  async inviteByAll(): Promise<void> {
    const people = this.people.map(({ id }) => id);
    await this.#sql(
      `insert into invitations
         (id, workspace_id, session_id, role, invitee_id, inviter_id, expires_at)
       select gen_random_uuid(), $1, s.id, case when s.id is null then 'member' else 'shared' end,
         gen_random_uuid(), inviter, now() + interval '1 hour'
       from unnest($2::uuid[]) inviter, unnest(array_append($3::uuid[], null)) s (id)`,
      [this.#workspaceId, people, this.sessions],
    );
  }

  /** Every role, membership and state of an account, with a device of each. */
  async #addPeople(): Promise<void> {
    const kinds = ROLES.flatMap((role) =>
      MEMBERSHIPS.flatMap((membership) =>
        ACCOUNTS.map((account) => {
          return { role, membership, account };
        }),
      ),
    );
    for (const { role, membership, account } of kinds) {
      const name = `${account} ${role}, ${membership}`;
      const id = await this.#rows.addUser(name, role);
      this.people.push({ id, name, headers: await this.#rows.signIn(id) });
      const device = await this.#rows.addDevice(this.#workspaceId, id);
      const headers = await this.#rows.addDeviceKey(device);
      this.readers.push({ id: device, name: `device of ${name}`, headers });
      if (membership === "none") continue;
      const own = membership === "owner" ? "owner" : "member";
      await this.#rows.join(this.#workspaceId, id, own);
      if (membership !== "left") continue;
      await this.#sql("delete from workspace_members where user_id = $1", [id]);
    }
    this.readers.push(...this.people);
  }

  /** Each kind of session, owned by somebody and with members, guests by its id and by a code. */
  async #addSessions(): Promise<void> {
    // The running service deletes what somebody owns whose account is erased.
    const owners = this.people.filter(({ name }) => !name.startsWith("erased"));
    for (const status of STATUSES) {
      for (const visibility of VISIBILITIES) {
        for (const access of GUEST_ACCESSES) {
          const [id, owner] = [newId(), this.#random.pick(owners).id];
          await this.#sql(
            `insert into sessions
               (id, workspace_id, owner_id, device_id, job_id, status, visibility, guest_access)
             select $1, $2, $3,
               (select id from devices where owner_id = $3 and $5::text <> 'recording'),
               $4, $5, $6, $7`,
            [id, this.#workspaceId, owner, newId(), status, visibility, access],
          );
          this.sessions.push(id);
          await this.#addMembers(id);
          await this.#addGuests(id, `${status}, ${visibility}, ${access}`);
        }
      }
    }
  }

  async #addMembers(session: string): Promise<void> {
    for (const { id } of this.people) {
      if (!this.#random.chance(0.3)) continue;
      await this.#sql(
        "insert into session_members (session_id, user_id, relation) values ($1, $2, $3)",
        [session, id, this.#random.pick(["participant", "shared"])],
      );
    }
  }

  async #addGuests(session: string, name: string): Promise<void> {
    const code = newId();
    await this.#sql(
      `insert into guest_codes (id, session_id, code_hash, created_by_kind, created_by_id)
       values ($1, $2, sha256($3), 'user', $4)`,
      [code, session, Buffer.from(code), newId()],
    );
    for (const codeId of [undefined, code]) {
      for (const change of GUEST_CHANGES) {
        const id = newId();
        const headers = await this.#rows.admit(session, id, codeId);
        await this.#sql(change, [id]);
        this.readers.push({ id, name: `guest of ${name}: ${change}`, headers });
      }
    }
  }

  async #elevate(): Promise<void> {
    for (const { id } of this.people) {
      if (this.#random.chance(0.3)) continue;
      const elevation = await this.#rows.elevate(id);
      await this.#sql(this.#random.pick(ELEVATIONS), [elevation, this.#random.pick(this.sessions)]);
    }
  }

  /** By each person a key of one scope, and one of all. */
  async #addKeys(): Promise<void> {
    for (const { id: maker, name } of this.people) {
      for (const change of KEY_CHANGES) {
        const scopes = this.#random.chance(0.6) ? SCOPES : [this.#random.pick(SCOPES)];
        const { id, headers } = await this.#rows.addServiceKey(this.#workspaceId, scopes, maker);
        await this.#sql(change, [id]);
        this.readers.push({ id, name: `key ${scopes.join()} of ${name}: ${change}`, headers });
      }
    }
  }

  async #endAccounts(): Promise<void> {
    await this.#sql(
      `update users set disabled_at = now(), erased_at = case when name ~ '^erased' then now() end
       where name ~ '^(disabled|erased) '`,
    );
  }
}
