import { rmSync } from "node:fs";
import { SCOPES, type Scope } from "../../src/access/principal.ts";
import { secretHash } from "../../src/access/secrets.ts";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { newGuestCode } from "../../src/conversations/guests/codes.ts";
import { Tokens } from "../../src/tenancy/accounts/tokens.ts";
import { type Caller, proofOf } from "./policy-callers.ts";
import { openPolicyParts, type PolicyParts } from "./policy-parts.ts";
import { guestAccessOf, type Headers, PolicyRows, visibilityOf } from "./policy-rows.ts";
import type { State } from "./policy-rules.ts";

type Ids = Readonly<Record<string, string>>;

const ADMIN_ROLES: Partial<Record<Caller, string>> = {
  admin: "admin",
  "admin elevated": "admin",
  "admin elevated for the session": "admin",
  "admin elevated for the workspace": "admin",
  "admin native": "admin",
  moderator: "moderator",
  "moderator elsewhere": "moderator",
};

/**
 * The whole service, as `startApp` composes it, over one workspace with one
 * session for each state, and everybody of the matrix to call it.
 */
export class PolicyFixture {
  readonly #parts: PolicyParts;
  readonly #rows: PolicyRows;
  readonly #users = new Map<string, string>();
  readonly #headers = new Map<string, Headers>();
  readonly #ids = new Map<State, Ids>();
  #workspaceId = "";
  #deviceId = "";

  private constructor(parts: PolicyParts) {
    this.#parts = parts;
    const tokens = new Tokens(parts.keys.ring, systemClock);
    this.#rows = new PolicyRows((text, values) => parts.pool.query(text, values), tokens);
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

  get parts(): PolicyParts {
    return this.#parts;
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
    if (userId !== undefined) return this.#rows.signIn(userId);
    if (proofOf(caller) !== "guest") return this.headers(caller, "live");
    return this.#rows.admit(this.ids("live").session_id ?? "");
  }

  /** A session like that of the state, to be ended. */
  addSession(state: State): Promise<string> {
    return this.#addSession(this.#workspaceId, "owner", state, state !== "live");
  }

  /** Of one whom the matrix has: none other is asked for. */
  #idOf(user: string): string {
    const id = this.#users.get(user);
    if (id === undefined) throw new Error(`The matrix has nobody called ${user}.`);
    return id;
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
    this.#workspaceId = await this.#rows.addWorkspace(this.#idOf("workspace owner"));
    for (const member of ["owner", "member", "moderator", "disabled user"]) {
      await this.#rows.join(this.#workspaceId, this.#idOf(member), "member");
    }
    const forWorkspace = this.#idOf("admin elevated for the workspace");
    await this.#rows.elevate(forWorkspace, undefined, this.#workspaceId);
    await this.#invite("invited to the workspace", "workspace owner");
    const elsewhere = await this.#rows.addWorkspace(this.#idOf("stranger"));
    await this.#rows.join(elsewhere, this.#idOf("moderator elsewhere"), "member");
    await this.#addDevices();
    await this.#addServiceKeys(elsewhere);
    const others = await this.#addOthers();
    for (const state of ["live", "ended", "deleted", "visible", "invited", "shut"] as const) {
      this.#ids.set(state, { ...others, ...(await this.#addTold(state)) });
    }
    const unknown = Object.keys(this.ids("live")).map((name) => [name, newId()]);
    this.#ids.set("unknown", { ...Object.fromEntries(unknown), label: "S1" });
    const other = await this.#addSession(elsewhere, "stranger", "live", false);
    this.#headers.set("guest elsewhere", await this.#rows.admit(other));
    const removed = newId();
    this.#headers.set(
      "guest removed",
      await this.#rows.admit(this.ids("live").session_id ?? "", removed),
    );
    await this.#sql("update guests set revoked_at = now(), removed_at = now() where id = $1", [
      removed,
    ]);
    await this.#sql("update users set disabled_at = now() where id = $1", [
      this.#idOf("disabled user"),
    ]);
  }

  async #addUser(caller: Caller | "subject" | string, role = "participant"): Promise<void> {
    const id = await this.#rows.addUser(caller, role);
    this.#users.set(caller, id);
    this.#headers.set(caller, await this.#rows.signIn(id));
    if (caller === "admin elevated") await this.#rows.elevate(id);
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
    await this.#rows.join(this.#workspaceId, this.#idOf("leaver"), "member");
    await this.#sql("delete from workspace_members where user_id = $1", [this.#idOf("leaver")]);
  }

  #addDevice(owner = "owner"): Promise<string> {
    return this.#rows.addDevice(this.#workspaceId, this.#idOf(owner));
  }

  async #addDeviceKey(caller: Caller, deviceId: string, change?: string): Promise<void> {
    this.#headers.set(caller, await this.#rows.addDeviceKey(deviceId, change));
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
    const { id, headers } = await this.#rows.addServiceKey(workspaceId, scopes, this.#idOf(maker));
    this.#headers.set(caller, headers);
    return id;
  }

  /** To the workspace, or to a session of it. */
  #invite(user: string, inviter: string, session?: string): Promise<string> {
    const [invitee, by] = [this.#idOf(user), this.#idOf(inviter)];
    return this.#rows.invite(this.#workspaceId, invitee, by, session);
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
      [webhook, workspace, this.#idOf("workspace owner")],
    );
    return {
      workspace_id: workspace,
      workshop_id: workshop,
      template: "standup",
      character_id: character,
      webhook_id: webhook,
      delivery_id: newId(),
      device_id: this.#deviceId,
      api_key_id: await this.#addServiceKey("target", workspace, SCOPES),
      user_id: this.#idOf("subject"),
      elevation_id: await this.#rows.elevate(this.#idOf("subject")),
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
    await this.#rows.elevate(this.#idOf("admin elevated for the session"), session);
    await this.#invite("invited to the session", "owner", session);
    const guest = newId();
    this.#headers.set(`guest of ${state}`, await this.#rows.admit(session, guest));
    const [codeId, code] = [newId(), newGuestCode()];
    await this.#sql(
      `insert into guest_codes (id, session_id, code_hash, created_by_kind, created_by_id)
       values ($1, $2, $3, 'user', $4)`,
      [codeId, session, secretHash(code), this.#idOf("owner")],
    );
    this.#headers.set(
      `guest by code of ${state}`,
      await this.#rows.admit(session, newId(), codeId),
    );
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
    const item = newId();
    await this.#sql(
      `insert into summaries (job_id, session_id, summary_type, engine, text, items, fingerprint)
       values ($1, $2, 'action_items', 'none', 'Call them.', $3, 'none')`,
      [
        summary,
        session,
        JSON.stringify([{ id: item, text: "Call them.", segment_ids: [segment], start_ms: 0 }]),
      ],
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
      // Uploads are whose who brings them: nobody here has brought one.
      upload_id: newId(),
      mark_id: newId(),
      guest_code: code,
      job_id: job,
      summarisation_id: summary,
      item_id: item,
    };
  }

  async #addSession(
    workspaceId: string,
    owner: string,
    state: State,
    hasDevice: boolean,
  ): Promise<string> {
    const deviceId = hasDevice ? this.#deviceId : null;
    const id = await this.#rows.addSession(workspaceId, this.#idOf(owner), state, deviceId);
    for (const [user, relation] of [
      ["participant", "participant"],
      ["admin native", "participant"],
      ["shared with", "shared"],
      ["disabled user", "participant"],
    ]) {
      await this.#sql(
        "insert into session_members (session_id, user_id, relation) values ($1, $2, $3)",
        [id, this.#idOf(user ?? ""), relation],
      );
    }
    return id;
  }
}
