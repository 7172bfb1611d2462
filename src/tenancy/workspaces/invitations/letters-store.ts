import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { nameColumn } from "../../../postgres/columns.ts";

const senderRow = z.object({
  name: nameColumn,
  email: z.string(),
  workspaceName: nameColumn,
});

const emailRow = z.object({ email: z.string() });

/** What stands in the letters that tell of invitations. */
export class InvitationLetterStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  sender(inviterId: string, workspaceId: string): Promise<z.infer<typeof senderRow>> {
    return this.#pool.one(sql.type(senderRow)`
      select u.name, u.email, w.name as "workspaceName"
      from users u, workspaces w where u.id = ${inviterId} and w.id = ${workspaceId}`);
  }

  /** Whether whoever has the session's id may come in as a guest. */
  takesGuests(sessionId: string): Promise<boolean> {
    return this.#pool.exists(sql.unsafe`
      select from sessions s
      where s.id = ${sessionId} and s.status <> 'deleted'
        and guest_access_of(s.guest_access, s.workspace_id) = 'open'`);
  }

  /** The address of a user who can sign in. */
  async addressOf(userId: string): Promise<string | undefined> {
    const row = await this.#pool.maybeOne(sql.type(emailRow)`
      select email from users where id = ${userId} and disabled_at is null`);
    return row?.email;
  }
}
