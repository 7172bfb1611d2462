import type { Scope } from "../../src/access/principal.ts";
import { newDeviceKey, newServiceKey, secretHash } from "../../src/access/secrets.ts";
import { newId } from "../../src/base/ids.ts";
import type { Tokens } from "../../src/tenancy/accounts/tokens.ts";
import type { State } from "./policy-rules.ts";

export type Headers = Readonly<Record<string, string>>;

type Query = (text: string, values?: unknown[]) => Promise<unknown>;

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

export function visibilityOf(state: State): string {
  return state === "visible" ? "workspace" : "private";
}

export function guestAccessOf(state: State): string {
  if (state === "invited") return "invitation";
  return state === "shut" ? "closed" : "open";
}

/** Rows of the matrix, each by itself, and what their holders show. Whom they belong to is told by ids. */
export class PolicyRows {
  readonly #sql: Query;
  readonly #tokens: Tokens;

  constructor(sql: Query, tokens: Tokens) {
    this.#sql = sql;
    this.#tokens = tokens;
  }

  async addUser(name: string, role: string): Promise<string> {
    const id = newId();
    await this.#sql("insert into users (id, email, name, role) values ($1, $2, $3, $4)", [
      id,
      `${id}@example.org`,
      name,
      role,
    ]);
    return id;
  }

  /** Over all sessions, one, or those of one workspace. */
  async elevate(adminId: string, session?: string, workspace?: string): Promise<string> {
    const id = newId();
    await this.#sql(
      `insert into content_elevations (id, admin_id, session_id, workspace_id, reason, expires_at)
       values ($1, $2, $3, $4, 'To walk the matrix', now() + interval '1 hour')`,
      [id, adminId, session, workspace],
    );
    return id;
  }

  async signIn(userId: string): Promise<Headers> {
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

  async admit(sessionId: string, id = newId(), codeId?: string): Promise<Headers> {
    await this.#sql(
      `insert into guests (id, session_id, code_id, display_name, expires_at)
       values ($1, $2, $3, 'Gus', now() + interval '1 hour')`,
      [id, sessionId, codeId],
    );
    const expiresAt = Date.now() + HOUR;
    const claims = { kind: "guest", subject: id, scope: sessionId, expiresAt } as const;
    return { authorization: `Bearer ${await this.#tokens.sign(claims)}` };
  }

  async addWorkspace(ownerId: string): Promise<string> {
    const id = newId();
    await this.#sql("insert into workspaces (id, name) values ($1, 'W')", [id]);
    await this.join(id, ownerId, "owner");
    return id;
  }

  async join(workspaceId: string, userId: string, role: string): Promise<void> {
    await this.#sql(
      "insert into workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
      [workspaceId, userId, role],
    );
  }

  async addDevice(workspaceId: string, ownerId: string): Promise<string> {
    const id = newId();
    await this.#sql(
      `insert into devices (id, serial, status, workspace_id, owner_id, pairing_secret_hash)
       values ($1, 'serial', 'paired', $2, $3, convert_to($4, 'UTF8'))`,
      [id, workspaceId, ownerId, id],
    );
    return id;
  }

  async addDeviceKey(deviceId: string, change?: string): Promise<Headers> {
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
    return { "x-api-key": key };
  }

  async addServiceKey(
    workspaceId: string,
    scopes: readonly Scope[],
    makerId: string,
  ): Promise<{ readonly id: string; readonly headers: Headers }> {
    const id = newId();
    const secret = newServiceKey();
    await this.#sql(
      "insert into service_keys (id, workspace_id, name, scopes) values ($1, $2, 'Key', $3)",
      [id, workspaceId, scopes],
    );
    await this.#sql(
      `insert into service_key_secrets (id, key_id, secret_hash, prefix, created_at, expires_at, made_by)
       values ($1, $2, $3, $4, now(), now() + interval '1 hour', $5)`,
      [newId(), id, secretHash(secret), secret.slice(0, 12), makerId],
    );
    return { id, headers: { "x-api-key": secret } };
  }

  /** To the workspace, or to a session of it. */
  async invite(
    workspaceId: string,
    inviteeId: string,
    inviterId: string,
    session?: string,
  ): Promise<string> {
    const id = newId();
    const role = session === undefined ? "member" : "participant";
    await this.#sql(
      `insert into invitations
         (id, workspace_id, session_id, role, invitee_id, inviter_id, expires_at)
       values ($1, $2, $3, $4, $5, $6, now() + interval '1 hour')`,
      [id, workspaceId, session, role, inviteeId, inviterId],
    );
    return id;
  }

  /** Without members; a deleted one with its receipt. */
  async addSession(
    workspaceId: string,
    ownerId: string,
    state: State,
    deviceId: string | null,
  ): Promise<string> {
    const id = newId();
    await this.#sql(
      `insert into sessions
         (id, workspace_id, owner_id, device_id, job_id, status, visibility, guest_access)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        id,
        workspaceId,
        ownerId,
        deviceId,
        newId(),
        STATUS[state],
        visibilityOf(state),
        guestAccessOf(state),
      ],
    );
    if (state === "deleted") await this.#addReceipt(id, workspaceId);
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
