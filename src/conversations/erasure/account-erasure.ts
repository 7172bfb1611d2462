import { Type } from "@sinclair/typebox";
import type { AuditActor } from "../../access/audit-entry.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError, errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type Progress, WorkList } from "../../base/work/work-list.ts";
import { requireUser } from "../../rest/callers.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import type { FreshProof } from "../../tenancy/accounts/fresh-proof.ts";
import type { AccountErasureStore, OrphanedSession } from "./account-erasure-store.ts";
import type { ErasureLedger } from "./ledger/erasure-ledger.ts";
import type { SessionErasure } from "./session-erasure.ts";

/**
 * Time for deleting sessions while the caller waits, milliseconds; maintenance deletes the rest.
 */
const BUDGET_MS = 10_000;
const PAGE = 50;

interface AccountErasureOptions {
  accounts: AccountErasureStore;
  sessions: SessionErasure;
  ledger: Pick<ErasureLedger, "record">;
  revocations: Pick<RevocationFeed, "publish">;
  clock: Clock;
  log: Log;
}

/**
 * Erases a person. The account ends at once and can never be used again. The sessions that it owns
 * are deleted, as many as fit into the call now and the rest soon after. Returns `last_admin`, and
 * does nothing, when no administrator would be left; undefined when there is no such account.
 */
export class AccountErasures {
  readonly #options: AccountErasureOptions;
  readonly #left: WorkList<OrphanedSession>;

  constructor(options: AccountErasureOptions) {
    this.#options = options;
    this.#left = this.#list();
  }

  /** `actor`: who wishes it; by default the person. */
  async erase(
    userId: string,
    actor?: AuditActor,
  ): Promise<AccountErasure | "last_admin" | undefined> {
    const { accounts, revocations, clock } = this.#options;
    const erased = await accounts.erase(userId, actor);
    if (erased === undefined || erased === "last_admin") return erased;
    revocations.publish({ kind: "user", userId });
    const until = clock.monotonic() + BUDGET_MS;
    const list = this.#list(userId);
    let sessionsDeleted = 0;
    let goesOn = true;
    while (goesOn && clock.monotonic() < until) {
      const { done, more } = await list.run();
      sessionsDeleted += done;
      goesOn = more;
    }
    const sessionsLeft = await accounts.countOrphaned(userId);
    const isRecorded = await this.#record(userId);
    return { sessionsDeleted, sessionsLeft, devicesUnpaired: erased.devices, isRecorded };
  }

  /** False when maintenance has to bring it into the ledger. */
  async #record(userId: string): Promise<boolean> {
    const { ledger, log } = this.#options;
    try {
      await ledger.record(userId);
      return true;
    } catch (error) {
      log.error({ error: errorMessage(error) }, "erasure of an account is not in the ledger yet");
      return false;
    }
  }

  /** How many of their sessions could not be deleted. */
  get failing(): number {
    return this.#left.failing;
  }

  /** Deletes sessions that erased accounts still own. */
  finish(): Promise<Progress> {
    return this.#left.run();
  }

  #list(userId?: string): WorkList<OrphanedSession> {
    const { accounts, sessions, clock, log } = this.#options;
    const erase = userId === undefined ? "begin" : "erase";
    return new WorkList({
      page: PAGE,
      read: (limit, except) => accounts.orphanedSessions(limit, { userId, except }),
      keyOf: ({ id }) => id,
      work: ({ id, ownerId }) =>
        sessions[erase](id, "account_erasure_session_redacted", { kind: "user", id: ownerId }),
      clock,
      log,
      trouble: "session of an erased account could not be deleted yet",
      field: "session_id",
    });
  }
}

/** The outcome of an account's erasure so far; remaining sessions are deleted by maintenance. */
interface AccountErasure {
  sessionsDeleted: number;
  sessionsLeft: number;
  devicesUnpaired: number;
  /** Whether the ledger has it. */
  isRecorded: boolean;
}

interface UserEraseOptions {
  eraser: AccountErasures;
  proof: Pick<FreshProof, "require">;
}

const answer = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.String({ examples: ["The account is erased."] }),
    sessions_deleted: Type.Integer({ description: "Sessions of the account that were deleted" }),
    sessions_left: Type.Integer({ description: "Deleted soon after, without another call" }),
    devices_unpaired: Type.Integer({ description: "Devices of the account that were unpaired" }),
  },
  { $id: "AccountErasure" },
);

/** DELETE /users/me. */
export function userEraseRoutes({ eraser, proof }: UserEraseOptions): Route[] {
  const erase = defineRoute({
    method: "delete",
    path: "/users/me",
    id: "eraseAccount",
    tag: "Admin",
    summary: "Erase the caller's own account, for good",
    description:
      "Ends every login, unpairs the devices, removes name and address, and deletes every session that the account owns. In sessions of other people the claimed voices lose the name. It cannot be undone, so the token alone is not enough: send the account's password, or sign in again by whatever way within five minutes before (403 with the code proof_required otherwise). A wrong password is 401 with the code invalid_credentials.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    body: {
      kind: "json",
      optional: true,
      schema: Type.Object({
        current_password: Type.Optional(
          Type.String({ description: "Not needed within five minutes of signing in" }),
        ),
      }),
    },
    responses: { 200: { description: "What was done", schema: answer } },
    errors: ["conflict", "proof_required", "invalid_credentials"],
    async handle({ principal, body }) {
      const caller = requireUser(principal);
      // The body is optional, which its type does not tell.
      const given: { current_password?: string } | undefined = body;
      await proof.require(caller, given?.current_password);
      const done = await eraser.erase(caller.id);
      if (done === undefined) throw new AppError("invalid_token", "This account is gone already.");
      if (done === "last_admin") {
        throw new AppError(
          "conflict",
          "You are the only administrator. Make another one first, or nobody could run the service.",
        );
      }
      return {
        status: 200,
        body: {
          success: true,
          message: done.isRecorded
            ? "The account is erased."
            : "The account is erased; the note of it for restored backups is being written.",
          sessions_deleted: done.sessionsDeleted,
          sessions_left: done.sessionsLeft,
          devices_unpaired: done.devicesUnpaired,
        },
      };
    },
  });
  return [erase];
}
