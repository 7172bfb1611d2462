import { rmSync } from "node:fs";
import { SCOPES, type Scope } from "../../src/access/principal.ts";
import { newDeviceKey, newServiceKey, secretHash } from "../../src/access/secrets.ts";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { Tokens } from "../../src/features/accounts/tokens.ts";
import { newGuestCode } from "../../src/features/guests/codes.ts";
import { type Caller, proofOf } from "./policy-callers.ts";
import { openPolicyParts, type PolicyParts } from "./policy-parts.ts";
import type { State } from "./policy-rules.ts";

type Headers = Readonly<Record<string, string>>;
type Ids = Readonly<Record<string, string>>;

const HOUR = 3_600_000;

const STATUS: Record<State, string> = {
  live: "recording",
  ended: "completed",
  deleted: "deleted",
  visible: "completed",
  invited: "completed",
  shut: "completed",
  unknown: "completed",
};

const ADMIN_ROLES: Partial<Record<Caller, string>> = {
  admin: "admin",
  "admin elevated": "admin",
  "admin elevated for the session": "admin",
  "admin elevated for the workspace": "admin",
  "admin native": "admin",
  moderator: "moderator",
  "moderator elsewhere": "moderator",
};

function visibilityOf(state: State): string {
  return state === "visible" ? "workspace" : "private";
}

function guestAccessOf(state: State): string {
  if (state === "invited") return "invitation";
  return state === "shut" ? "closed" : "open";
}

/**
 * The whole service, as `startApp` composes it, over one workspace with one
 * session for each state, and everybody of the matrix to call it.
 */
export class PolicyFixture {
  readonly #parts: PolicyParts;
  readonly #tokens: Tokens;
  readonly #users = new Map<string, string>();
  readonly #headers = new Map<string, Headers>();
  readonly #ids = new Map<State, Ids>();
  #workspaceId = "";
  #deviceId = "";

  private constructor(parts: PolicyParts) {
    this.#parts = parts;
    this.#tokens = new Tokens(parts.keys.ring, systemClock);
  }

  static async open(): Promise<PolicyFixture> {
    const world = new PolicyFixture(await openPolicyParts());
    await world.#populate();
    return world;
  }

  async close(): Promise<void> {
    const { app, pool, database, folder, nats } = this.#parts;
    await app.stop();
    await pool.end();
    await Promise.all([database.drop(), nats.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }

  /** The address below which the routes are. */
  get api(): string {
    return `${this.#parts.app.addresses.base_url}/api`;
  }

  /** What the caller shows; a guest is one of the session in this state. */
  headers(caller: Caller, state: State): Headers {
    const isTied = caller === "guest" || caller === "guest by code";
    const own = isTied && state !== "unknown" ? `${caller} of ${state}` : caller;
    return this.#headers.get(own) ?? this.#headers.get(`${own} of live`) ?? {};
  }

  ids(state: State): Ids {
    return this.#ids.get(state) ?? {};
  }

  /** Of the caller, or of nobody. */
  userId(caller: Caller): string {
    return this.#users.get(caller) ?? newId();
  }

  /** The same caller by a login of its own, that may end. */
  async headersToSpend(caller: Caller): Promise<Headers> {
    const userId = this.#users.get(caller);
    if (userId !== undefined) return this.#signIn(userId);
    if (proofOf(caller) !== "guest") return this.headers(caller, "live");
    return this.#admit(this.ids("live").session_id ?? "");
  }

  /** A session like that of the state, to be ended. */
  addSession(state: State): Promise<string> {
    return this.#addSession(this.#workspaceId, "owner", state, state !== "live");
  }

  async #sql(text: string, values: unknown[] = []): Promise<void> {
    await this.#parts.pool.query(text, values);
  }

  async #populate(): Promise<void> {
    for (const caller of ["owner", "participant", "shared with", "member"] as const) {
      await this.#addUser(caller);
    }
    for (const caller of ["invited to the session", "invited to the workspace"] as const) {
      await this.#addUser(caller);
    }
    for (const caller of [
      "workspace owner",
      "stranger",
      "disabled user",
      "subject",
      "leaver",
    ] as const) {
      await this.#addUser(caller);
    }
    for (const [caller, role] of Object.entries(ADMIN_ROLES)) await this.#addUser(caller, role);
    this.#workspaceId = await this.#addWorkspace("workspace owner");
    for (const member of ["owner", "member", "moderator", "disabled user"]) {
      await this.#join(this.#workspaceId, member, "member");
    }
    const forWorkspace = this.#users.get("admin elevated for the workspace") ?? "";
    await this.#elevate(forWorkspace, undefined, this.#workspaceId);
    await this.#invite("invited to the workspace", "workspace owner");
    const elsewhere = await this.#addWorkspace("stranger");
    await this.#join(elsewhere, "moderator elsewhere", "member");
    await this.#addDevices();
    await this.#addServiceKeys(elsewhere);
    const others = await this.#addOthers();
    for (const state of ["live", "ended", "deleted", "visible", "invited", "shut"] as const) {
      this.#ids.set(state, { ...others, ...(await this.#addTold(state)) });
    }
    const unknown = Object.keys(this.ids("live")).map((name) => [name, newId()]);
    this.#ids.set("unknown", { ...Object.fromEntries(unknown), label: "S1" });
    const other = await this.#addSession(elsewhere, "stranger", "live", false);
    this.#headers.set("guest elsewhere", await this.#admit(other));
    const removed = newId();
    this.#headers.set(
      "guest removed",
      await this.#admit(this.ids("live").session_id ?? "", removed),
    );
    await this.#sql("update guests set revoked_at = now(), removed_at = now() where id = $1", [
      removed,
    ]);
    await this.#sql("update users set disabled_at = now() where id = $1", [
      this.#users.get("disabled user"),
    ]);
  }

  async #addUser(caller: Caller | "subject" | string, role = "participant"): Promise<void> {
    const id = newId();
    await this.#sql("insert into users (id, email, name, role) values ($1, $2, $3, $4)", [
      id,
      `${id}@example.org`,
      caller,
      role,
    ]);
    this.#users.set(caller, id);
    this.#headers.set(caller, await this.#signIn(id));
    if (caller === "admin elevated") await this.#elevate(id);
  }

  /** Over all sessions, one, or those of one workspace. */
  async #elevate(adminId: string, session?: string, workspace?: string): Promise<string> {
    const id = newId();
    await this.#sql(
      `insert into content_elevations (id, admin_id, session_id, workspace_id, reason, expires_at)
       values ($1, $2, $3, $4, 'To walk the matrix', now() + interval '1 hour')`,
      [id, adminId, session, workspace],
    );
    return id;
  }

  async #signIn(userId: string): Promise<Headers> {
    const scope = newId();
    const expiresAt = Date.now() + HOUR;
    await this.#sql(
      `insert into logins (id, user_id, expires_at, created_at)
       values ($1, $2, now() + interval '1 hour', clock_timestamp())`,
      [scope, userId],
    );
    const claims = { kind: "access", subject: userId, scope, expiresAt } as const;
    return { authorization: `Bearer ${await this.#tokens.sign(claims)}` };
  }

  async #admit(
    sessionId: string,
    id = newId(),
    codeId: string | undefined = undefined,
  ): Promise<Headers> {
    await this.#sql(
      `insert into guests (id, session_id, code_id, display_name, expires_at)
       values ($1, $2, $3, 'Gus', now() + interval '1 hour')`,
      [id, sessionId, codeId],
    );
    const expiresAt = Date.now() + HOUR;
    const claims = { kind: "guest", subject: id, scope: sessionId, expiresAt } as const;
    return { authorization: `Bearer ${await this.#tokens.sign(claims)}` };
  }

  async #addWorkspace(owner: string): Promise<string> {
    const id = newId();
    await this.#sql("insert into workspaces (id, name) values ($1, 'W')", [id]);
    await this.#join(id, owner, "owner");
    return id;
  }

  async #join(workspaceId: string, user: string, role: string): Promise<void> {
    await this.#sql(
      "insert into workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
      [workspaceId, this.#users.get(user), role],
    );
  }

  /** The session's own device, with keys that stand, ran out and were revoked, and another one. */
  async #addDevices(): Promise<void> {
    this.#deviceId = await this.#addDevice();
    const other = await this.#addDevice();
    await this.#addDeviceKey("device", this.#deviceId);
    await this.#addDeviceKey("device other", other);
    await this.#addDeviceKey(
      "device key expired",
      this.#deviceId,
      "expires_at = now() - interval '25 hours'",
    );
    await this.#addDeviceKey(
      "device key revoked",
      this.#deviceId,
      "revoked_at = now() - interval '25 hours'",
    );
    await this.#addDeviceKey("device of leaver", await this.#addDevice("leaver"));
    await this.#join(this.#workspaceId, "leaver", "member");
    await this.#sql("delete from workspace_members where user_id = $1", [
      this.#users.get("leaver"),
    ]);
  }

  async #addDevice(owner = "owner"): Promise<string> {
    const id = newId();
    await this.#sql(
      `insert into devices (id, serial, status, workspace_id, owner_id, pairing_secret_hash)
       values ($1, 'serial', 'paired', $2, $3, convert_to($4, 'UTF8'))`,
      [id, this.#workspaceId, this.#users.get(owner), id],
    );
    return id;
  }

  async #addDeviceKey(caller: Caller, deviceId: string, change?: string): Promise<void> {
    const key = newDeviceKey();
    const id = newId();
    await this.#sql(
      `insert into device_keys (id, device_id, key_hash, expires_at)
       values ($1, $2, $3, now() + interval '1 hour')`,
      [id, deviceId, secretHash(key)],
    );
    if (change !== undefined) {
      await this.#sql(`update device_keys set ${change} where id = $1`, [id]);
    }
    this.#headers.set(caller, { "x-api-key": key });
  }

  async #addServiceKeys(elsewhere: string): Promise<void> {
    const own = this.#workspaceId;
    for (const scope of SCOPES) await this.#addServiceKey(`key ${scope}`, own, [scope]);
    await this.#addServiceKey("key of all scopes", own, SCOPES);
    await this.#addServiceKey("key elsewhere", elsewhere, SCOPES, "stranger");
    await this.#addServiceKey("key suspended", own, SCOPES, "member");
    const expired = await this.#addServiceKey("key expired", own, SCOPES);
    await this.#sql("update service_key_secrets set expires_at = now() where key_id = $1", [
      expired,
    ]);
    const revoked = await this.#addServiceKey("key revoked", own, SCOPES);
    await this.#sql("update service_keys set revoked_at = now() where id = $1", [revoked]);
  }

  async #addServiceKey(
    caller: Caller | "target",
    workspaceId: string,
    scopes: readonly Scope[],
    maker = "workspace owner",
  ): Promise<string> {
    const id = newId();
    const secret = newServiceKey();
    await this.#sql(
      "insert into service_keys (id, workspace_id, name, scopes) values ($1, $2, 'Key', $3)",
      [id, workspaceId, scopes],
    );
    await this.#sql(
      `insert into service_key_secrets (id, key_id, secret_hash, prefix, created_at, expires_at, made_by)
       values ($1, $2, $3, $4, now(), now() + interval '1 hour', $5)`,
      [newId(), id, secretHash(secret), secret.slice(0, 12), this.#users.get(maker)],
    );
    this.#headers.set(caller, { "x-api-key": secret });
    return id;
  }

  /** To the workspace, or to a session of it. */
  async #invite(user: string, inviter: string, session?: string): Promise<string> {
    const id = newId();
    await this.#sql(
      `insert into invitations
         (id, workspace_id, session_id, role, invitee_id, inviter_id, expires_at)
       values ($1, $2, $3, $4, $5, $6, now() + interval '1 hour')`,
      [
        id,
        this.#workspaceId,
        session,
        session === undefined ? "member" : "participant",
        this.#users.get(user),
        this.#users.get(inviter),
      ],
    );
    return id;
  }

  /** One of everything that has no session. */
  async #addOthers(): Promise<Ids> {
    const [workshop, character, webhook] = [newId(), newId(), newId()];
    const workspace = this.#workspaceId;
    await this.#sql("insert into workshops (id, workspace_id, name) values ($1, $2, 'Play')", [
      workshop,
      workspace,
    ]);
    await this.#sql(
      "insert into workshop_characters (id, workshop_id, name) values ($1, $2, 'Nina')",
      [character, workshop],
    );
    await this.#sql(
      `insert into webhooks (id, workspace_id, url, enabled, secret, made_by)
       values ($1, $2, 'https://hook.test/', false, 'x', $3)`,
      [webhook, workspace, this.#users.get("workspace owner")],
    );
    return {
      workspace_id: workspace,
      workshop_id: workshop,
      character_id: character,
      webhook_id: webhook,
      delivery_id: newId(),
      device_id: this.#deviceId,
      api_key_id: await this.#addServiceKey("target", workspace, SCOPES),
      user_id: this.#users.get("subject") ?? "",
      elevation_id: await this.#elevate(this.#users.get("subject") ?? ""),
      invitation_id: await this.#invite("subject", "workspace owner"),
      entity_id: newId(),
      provider: "nowhere",
      label: "S1",
    };
  }

  /** A session with words, jobs, its guest, and a concern of the guest's. */
  async #addTold(state: State): Promise<Ids> {
    const session = await this.#addSession(this.#workspaceId, "owner", state, true);
    const [segment, concern, job, summary] = [newId(), newId(), newId(), newId()];
    await this.#elevate(this.#users.get("admin elevated for the session") ?? "", session);
    await this.#invite("invited to the session", "owner", session);
    const guest = newId();
    this.#headers.set(`guest of ${state}`, await this.#admit(session, guest));
    const [codeId, code] = [newId(), newGuestCode()];
    await this.#sql(
      `insert into guest_codes (id, session_id, code_hash, created_by_kind, created_by_id)
       values ($1, $2, $3, 'user', $4)`,
      [codeId, session, secretHash(code), this.#users.get("owner")],
    );
    this.#headers.set(`guest by code of ${state}`, await this.#admit(session, newId(), codeId));
    await this.#sql(
      `insert into segments
         (session_id, id, attempt, start_sample, end_sample, label, text, words, confidence)
       values ($1, $2, 1, 0, 16000, 'S1', 'word', '[]', 0.9)`,
      [session, segment],
    );
    await this.#sql(
      `insert into chunks
         (id, session_id, sequence, media_type, bytes, sha256, frames, sample_rate,
          duration_seconds, status, start_sample, length_samples)
       values ($1, $2, 0, 'audio/wav', 1, sha256('x'), 16000, 16000, 1, 'completed', 0, 16000)`,
      [newId(), session],
    );
    await this.#sql(
      `insert into concerns (id, session_id, category, description, raised_by_kind, raised_by_id)
       values ($1, $2, 'other', 'Odd.', 'guest', $3)`,
      [concern, session, guest],
    );
    await this.#sql(
      `insert into jobs (id, kind, session_id, workspace_id, status, summary_type)
       values ($1, 'transcription', $3, $4, 'completed', null),
              ($2, 'summarisation', $3, $4, 'completed', 'brief')`,
      [job, summary, session, this.#workspaceId],
    );
    await this.#sql("update sessions set job_id = $2 where id = $1", [session, job]);
    return {
      session_id: session,
      visibility: visibilityOf(state),
      guest_access: guestAccessOf(state),
      segment_id: segment,
      chunk_sequence: "0",
      concern_id: concern,
      guest_id: guest,
      code_id: codeId,
      guest_code: code,
      job_id: job,
      summarisation_id: summary,
    };
  }

  async #addSession(
    workspaceId: string,
    owner: string,
    state: State,
    hasDevice: boolean,
  ): Promise<string> {
    const id = newId();
    const deviceId = hasDevice ? this.#deviceId : null;
    await this.#sql(
      `insert into sessions
         (id, workspace_id, owner_id, device_id, job_id, status, visibility, guest_access)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        id,
        workspaceId,
        this.#users.get(owner),
        deviceId,
        newId(),
        STATUS[state],
        visibilityOf(state),
        guestAccessOf(state),
      ],
    );
    if (state === "deleted") await this.#addReceipt(id, workspaceId);
    for (const [user, relation] of [
      ["participant", "participant"],
      ["admin native", "participant"],
      ["shared with", "shared"],
      ["disabled user", "participant"],
    ]) {
      await this.#sql(
        "insert into session_members (session_id, user_id, relation) values ($1, $2, $3)",
        [id, this.#users.get(user ?? ""), relation],
      );
    }
    return id;
  }

  async #addReceipt(sessionId: string, workspaceId: string): Promise<void> {
    await this.#sql(
      `insert into deletion_receipts
         (id, session_id, workspace_id, kind, removed, audio_erased_at)
       values ($1, $2, $3, 'session_deleted_by_owner', '{}', now())`,
      [newId(), sessionId, workspaceId],
    );
  }
}
