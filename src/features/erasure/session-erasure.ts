import type { AuditActor } from "../../access/audit-trail.ts";
import type { RevocationFeed } from "../../access/revocation-feed.ts";
import { errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { DeletionKind, DeletionReceipt, SessionEraser } from "./session-eraser.ts";

/** A session that is gone from the record; `event` when it went just now. */
export interface DeletedRecord {
  receipt: DeletionReceipt;
  /** Its last event: seq, and when, in Unix milliseconds. */
  event?: { seq: number; at: number };
}

/** Port: the record's part of deletions; `erase` is one transaction. */
export interface DeletionRecords {
  erase(
    sessionId: string,
    kind: DeletionKind,
    actor: AuditActor,
  ): Promise<DeletedRecord | undefined>;
  /** The session's files are gone. */
  audioErased(sessionId: string): Promise<void>;
  /** Deleted sessions whose files may still be there, oldest first. */
  withAudioLeft(limit: number): Promise<string[]>;
}

interface SessionErasureParts {
  records: DeletionRecords;
  /** Removes every file of a session; nothing there is fine. */
  eraseAudio(sessionId: string): Promise<void>;
  /** Shows viewers that it is over; best effort. */
  publish(sessionId: string, event: { seq: number; at: number }): void;
  /** Wakes the session's actor, which then finds the session gone; best effort. */
  wake(sessionId: string): Promise<void>;
  revocations: Pick<RevocationFeed, "publish">;
  log: Log;
}

/** Deletes sessions: the record first, then everything that only points at it. */
export class SessionErasure implements SessionEraser {
  readonly #parts: SessionErasureParts;

  constructor(parts: SessionErasureParts) {
    this.#parts = parts;
  }

  async erase(
    sessionId: string,
    kind: DeletionKind,
    actor: AuditActor,
  ): Promise<DeletionReceipt | undefined> {
    const { records, publish, revocations, log } = this.#parts;
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

  /** Removes files that an earlier try left; returns how many sessions are done. */
  async finish(limit = 100): Promise<number> {
    let done = 0;
    for (const sessionId of await this.#parts.records.withAudioLeft(limit)) {
      if (await this.#eraseAudio(sessionId)) done += 1;
    }
    return done;
  }

  #wake(sessionId: string): void {
    this.#parts.wake(sessionId).catch((error: unknown) => {
      this.#parts.log.debug(
        { session_id: sessionId, error: errorMessage(error) },
        "no actor woken",
      );
    });
  }

  async #eraseAudio(sessionId: string): Promise<boolean> {
    const { records, eraseAudio, log } = this.#parts;
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
