import {
  AppError,
  type ErrorCode,
  errorMessage,
  isAppError,
  toAppError,
} from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { BackedOffItems } from "../../base/work/backed-off-items.ts";
import { QueueRunner } from "../../base/work/queue-runner.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import type { StopReason } from "../../session/status.ts";
import type { DeviceSessionStore } from "../recording/device-sessions-store.ts";
import { sha256OfFile } from "../recording/integrity/sha256.ts";
import type { WholeFiles } from "../recording/whole-files.ts";
import type { IncomingFolder } from "./incoming-folder.ts";
import { type FileUpload, RETENTION_MS, type UploadStore } from "./store.ts";

interface FileStoringOptions {
  uploads: UploadStore;
  folder: IncomingFolder;
  files: Pick<WholeFiles, "inspect" | "store">;
  sessions: Pick<DeviceSessionStore, "stop">;
  notifier: CommandNotifier;
  runtime: Pick<Runtime, "after" | "delay" | "monotonic">;
  log: Log;
}

/** How often files that others left, or that have rested, are looked for, milliseconds. */
const POLL_MS = 10_000;
/** Files that one process stores at once. */
const AT_ONCE = 2;

/** What is wrong with the file or its session: another try would end in the same way. */
const FINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(["not_audio", "payload_too_large", "unsupported_media_type", "invalid_body"] as const),
  ...(["session_ended", "session_deleted", "not_found", "conflict", "chunk_conflict"] as const),
  "quota_exceeded",
]);

/** Of a file that nothing here reads. */
function isUnreadable(error: unknown): boolean {
  return isAppError(error, "not_audio") || isAppError(error, "unsupported_media_type");
}

/**
 * Stores whole files that have come as the chunks of their sessions, and ends the recording with the
 * last one. What a process leaves half done another one goes on with.
 */
export class FileStoring {
  readonly runner: QueueRunner<string>;
  readonly #options: FileStoringOptions;
  readonly #resting: BackedOffItems;

  constructor(options: FileStoringOptions) {
    this.#options = options;
    const { uploads, runtime, log } = options;
    this.#resting = new BackedOffItems(runtime);
    this.runner = new QueueRunner({
      ...{ queue: "uploaded_files", atOnce: AT_ONCE, every: POLL_MS, runtime, log },
      trouble: "looking for uploaded files failed",
      claim: (limit) => uploads.waiting(limit, this.#resting.names()),
      work: (id, stop) => this.#storeLater(id, stop),
    });
  }

  async #storeLater(id: string, stop: AbortSignal): Promise<void> {
    const { log } = this.#options;
    try {
      await this.store(id, stop, true);
      this.#resting.worked(id);
    } catch (error) {
      this.#resting.failed(id);
      if (stop.aborted || FINAL.has(toAppError(error).code)) return;
      log.warn({ upload_id: id, error: errorMessage(error) }, "an uploaded file is not stored yet");
    }
  }

  /**
   * Stores a file that has come. False when it is not to be stored now; throws what is wrong with it,
   * which is then on record, and what may pass, so that it is tried again.
   *
   * @param ends a last file that cannot be stored ends its session, as nobody else learns of it
   */
  async store(id: string, signal: AbortSignal, ends: boolean): Promise<boolean> {
    const { uploads, folder } = this.#options;
    const taken = await uploads.take(id).catch(async (error: unknown) => {
      throw await this.#noted(id, error);
    });
    if (taken === undefined) return false;
    const { upload, holder } = taken;
    const keeping = setInterval(() => void uploads.keep(id, holder).catch(() => {}), RETENTION_MS);
    try {
      const last = await this.#storeFile(upload, signal);
      // In this order: whoever goes on after a crash ends the recording, too.
      await this.#end(upload, last);
      await uploads.stored(id);
    } catch (error) {
      const failure = await this.#noted(id, error);
      if (!FINAL.has(failure.code)) await uploads.release(id, holder);
      else if (ends)
        await this.#end(upload, undefined, isUnreadable(error) ? "not_audio" : undefined);
      if (FINAL.has(failure.code)) await folder.remove(upload);
      throw failure;
    } finally {
      clearInterval(keeping);
    }
    await folder.remove(upload);
    return true;
  }

  /** Notes why a file is not stored, if that is for good. */
  async #noted(id: string, error: unknown): Promise<AppError> {
    const { uploads, log } = this.#options;
    const failure = toAppError(error);
    if (FINAL.has(failure.code)) {
      await uploads.failed(id, failure);
      log.info({ upload_id: id, code: failure.code }, "an uploaded file is not stored");
    }
    return failure;
  }

  /** Returns the sequence of its last chunk. */
  async #storeFile(upload: FileUpload, signal: AbortSignal): Promise<number> {
    const { folder, files } = this.#options;
    const path = await folder.lend(upload);
    if (path === undefined) throw new AppError("not_found", "The uploaded file is gone.");
    const { sessionId, accountId, filename, mediaType, firstSequence: first = 0 } = upload;
    try {
      const content = { kind: "file", path } as const;
      const sent = { content, ...(await sha256OfFile(path)), mediaType, filename, fields: {} };
      const file = await files.inspect(sent, accountId, signal);
      try {
        if (file.audio.frames === 0) throw new AppError("not_audio", "The file holds no sound.");
        const last = await files.store({ sessionId, accountId, filename, first }, file, signal);
        if (!signal.aborted) return last;
        throw new AppError("unavailable", "The service is stopping.");
      } finally {
        await file.release();
      }
    } finally {
      await folder.removeLent(path);
    }
  }

  /** Ends the recording after its last file, unless others are still to come. */
  async #end(
    { id, sessionId, isLast }: FileUpload,
    lastSequence: number | undefined,
    reason?: StopReason,
  ): Promise<void> {
    const { uploads, sessions, notifier } = this.#options;
    if (!isLast || (await uploads.isAwaiting(sessionId, id))) return;
    const { outbox } = await sessions.stop({
      ...{ deviceId: undefined, sessionId, lastSequence, exceptUpload: id },
      ...(reason !== undefined && { reason }),
    });
    notifier.notify(outbox);
  }
}
