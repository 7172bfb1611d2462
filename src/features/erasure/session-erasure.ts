import { type Static, Type } from "@sinclair/typebox";
import { type AuditActor, actorOf } from "../../access/audit-entry.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError, errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
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
  /** Tells viewers that the session is over; best effort. */
  publish(sessionId: string, event: { seq: number; at: number }): void;
  /** Wakes the session's actor, which then finds the session deleted; best effort. */
  wake(sessionId: string): Promise<void>;
  revocations: Pick<RevocationFeed, "publish">;
  log: Log;
}

/**
 * Deletes sessions for good. Words, names and everything derived from them go in one transaction
 * together with the audit entry; the audio files are removed right after it, or as soon as the disk
 * allows. Repeatable: a second call returns the first receipt. Undefined when there is no such
 * session.
 */
export class SessionErasure {
  readonly #options: SessionErasureOptions;

  constructor(options: SessionErasureOptions) {
    this.#options = options;
  }

  async erase(
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
    if (receipt.audioErased) return receipt;
    return { ...receipt, audioErased: await this.#eraseAudio(sessionId) };
  }

  /** Removes files that an earlier attempt left; returns how many sessions are done. */
  async finish(limit = 100): Promise<number> {
    let done = 0;
    for (const sessionId of await this.#options.records.withAudioLeft(limit)) {
      if (await this.#eraseAudio(sessionId)) done += 1;
    }
    return done;
  }

  #wake(sessionId: string): void {
    this.#options.wake(sessionId).catch((error: unknown) => {
      this.#options.log.debug(
        { session_id: sessionId, error: errorMessage(error) },
        "no actor woken",
      );
    });
  }

  async #eraseAudio(sessionId: string): Promise<boolean> {
    const { records, eraseAudio, log } = this.#options;
    try {
      await eraseAudio(sessionId);
      await records.audioErased(sessionId);
      return true;
    } catch (error) {
      const fields = { session_id: sessionId, error: errorMessage(error) };
      log.error(fields, "audio of a deleted session could not be removed yet");
      return false;
    }
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
      description: "The audio files are gone; if false the service goes on removing them",
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

const PAGE = 100;

/** Deletes sessions whose retention time is over; returns how many. */
export async function applyRetention(
  records: RetentionStore,
  sessions: SessionErasure,
): Promise<number> {
  const expired = await records.expired(PAGE);
  for (const id of expired) {
    await sessions.erase(id, "retention_session_redacted", { kind: "system" });
  }
  return expired.length;
}
