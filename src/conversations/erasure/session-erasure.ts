import { type Static, Type } from "@sinclair/typebox";
import { type AuditActor, actorOf } from "../../access/audit-entry.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import type { Clock } from "../../base/clock.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError, errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type Progress, WorkList } from "../../base/work/work-list.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { ErasureLedger } from "./ledger/erasure-ledger.ts";
import type {
  DeletionKind,
  DeletionReceipt,
  DeletionRecords,
  RetentionStore,
} from "./session-erasure-store.ts";

export interface SessionErasureOptions {
  records: DeletionRecords;
  /** Removes every file of a session; repeatable. */
  eraseAudio(sessionId: string): Promise<unknown>;
  ledger: Pick<ErasureLedger, "record">;
  /** Tells viewers that the session is over; best effort. */
  publish(sessionId: string, event: { seq: number; at: number }): void;
  /** Wakes the session's actor, which then finds the session deleted; best effort. */
  wake(sessionId: string): Promise<void>;
  revocations: Pick<RevocationFeed, "publish">;
  clock: Pick<Clock, "monotonic">;
  log: Log;
}

const PAGE = 200;
const FINISH_TROUBLE = "deletion of a session is not finished yet";

interface SessionListOptions {
  read(limit: number, except: readonly string[]): Promise<readonly string[]>;
  work(sessionId: string): Promise<unknown>;
  /** Message of the log line for a session that failed. */
  trouble?: string;
}

/**
 * Deletes sessions for good. Words, names and everything derived from them go in one transaction
 * together with the audit entry; the audio files are removed right after it, and the erasure comes
 * into the ledger, or as soon as the disk allows. Repeatable: a second call returns the first receipt.
 * Undefined when there is no such session.
 */
export class SessionErasure {
  readonly #options: SessionErasureOptions;
  readonly #left: WorkList<string>;

  constructor(options: SessionErasureOptions) {
    this.#options = options;
    this.#left = this.list({
      read: (limit, except) => options.records.withAudioLeft(limit, except),
      work: (sessionId) => this.#finish(sessionId),
      trouble: FINISH_TROUBLE,
    });
  }

  /** Work on sessions that the record lists by their ids. */
  list({ read, work, trouble = "session could not be deleted yet" }: SessionListOptions) {
    const { clock, log } = this.#options;
    const keyOf = (sessionId: string) => sessionId;
    return new WorkList({
      page: PAGE,
      read,
      keyOf,
      work,
      clock,
      log,
      trouble,
      field: "session_id",
    });
  }

  async erase(
    sessionId: string,
    kind: DeletionKind,
    actor: AuditActor,
  ): Promise<DeletionReceipt | undefined> {
    const receipt = await this.begin(sessionId, kind, actor);
    if (receipt === undefined || receipt.audioErased) return receipt;
    try {
      await this.#finish(sessionId);
    } catch (error) {
      const fields = { session_id: sessionId, error: errorMessage(error) };
      this.#options.log.error(fields, FINISH_TROUBLE);
      return receipt;
    }
    return { ...receipt, audioErased: true };
  }

  /**
   * Deletes what the database has; files and ledger follow by `finish`, where many sessions share a
   * file of the ledger.
   */
  async begin(
    sessionId: string,
    kind: DeletionKind,
    actor: AuditActor,
  ): Promise<DeletionReceipt | undefined> {
    const { records, publish, revocations, log } = this.#options;
    const deleted = await records.erase(sessionId, kind, actor);
    if (deleted === undefined) return undefined;
    const { receipt, event } = deleted;
    if (event !== undefined) {
      publish(sessionId, event);
      revocations.publish({ kind: "session", sessionId });
      this.#wake(sessionId);
      log.info({ session_id: sessionId, kind }, "session deleted");
    }
    return receipt;
  }

  /** How many deletions could not be finished. */
  get failing(): number {
    return this.#left.failing;
  }

  /** Removes files that earlier attempts left, and brings into the ledger what they did not. */
  finish(): Promise<Progress> {
    return this.#left.run();
  }

  #wake(sessionId: string): void {
    this.#options.wake(sessionId).catch((error: unknown) => {
      this.#options.log.debug(
        { session_id: sessionId, error: errorMessage(error) },
        "no actor woken",
      );
    });
  }

  /** The files go first: on a full disk that makes room for the ledger. */
  async #finish(sessionId: string): Promise<void> {
    const { records, eraseAudio, ledger } = this.#options;
    await eraseAudio(sessionId);
    await ledger.record(sessionId);
    await records.audioErased(sessionId);
  }
}

interface SessionDeleteOptions {
  directory: SessionStore;
  eraser: SessionErasure;
}

const receiptSchema = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.String({ examples: ["The session is deleted."] }),
    receipt_id: Type.String(),
    session_id: Type.String(),
    kind: Type.String({ examples: ["session_deleted_by_owner"] }),
    deleted_at: timestamp,
    removed: Type.Record(Type.String(), Type.Integer(), {
      description: "What was removed, counted",
    }),
    audio_erased: Type.Boolean({
      description:
        "The audio files are gone, and a restored backup cannot bring the session back unnoticed; if false the service goes on with it",
    }),
  },
  { $id: "DeletionReceipt" },
);

/** DELETE /sessions/{id}. */
export function sessionDeleteRoutes({ directory, eraser }: SessionDeleteOptions): Route[] {
  const remove = defineRoute({
    method: "delete",
    path: "/sessions/{session_id}",
    id: "deleteSession",
    tag: "Session",
    summary: "Delete a session for good",
    description:
      "By its owner or an admin, in any state. Words, audio, names and everything derived from them go; open sockets close. It cannot be undone. The receipt lists what was removed; an admin who repeats the call gets it again.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    responses: { 200: { description: "What was removed", schema: receiptSchema } },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.delete"),
    async handle(_request, { principal, facts }) {
      const own = facts.relation === "owner" || principal.kind === "service";
      const kind = own ? "session_deleted_by_owner" : "session_deleted_by_admin";
      const receipt = await eraser.erase(facts.id, kind, actorOf(principal));
      if (receipt === undefined)
        throw new AppError("not_found", "There is no session with this id.");
      return { status: 200, body: present(receipt) };
    },
  });
  return [remove];
}

function present(receipt: DeletionReceipt): Static<typeof receiptSchema> {
  return {
    success: true,
    message: receipt.audioErased
      ? "The session is deleted."
      : "The session is deleted; its audio files are being removed.",
    receipt_id: receipt.id,
    session_id: receipt.sessionId,
    kind: receipt.kind,
    deleted_at: toTimestamp(receipt.deletedAt),
    removed: receipt.removed,
    audio_erased: receipt.audioErased,
  };
}

/** The work of deleting sessions whose retention time is over. */
export function retentionList(records: RetentionStore, sessions: SessionErasure): WorkList<string> {
  return sessions.list({
    read: (limit, except) => records.expired(limit, except),
    work: (id) => sessions.begin(id, "retention_session_redacted", { kind: "system" }),
  });
}
