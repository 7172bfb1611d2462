import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Attempts } from "../../client/back-off.ts";
import { ApiError, reasonOf, UploadError } from "../../client/errors.ts";
import { FileUpload, type UploadStore } from "../../client/upload.ts";
import { CommandFailure } from "../client/command-context.ts";
import { readPages } from "../client/pages.ts";
import type { UserSession } from "../client/user-session.ts";
import type { DeviceOwner } from "./device-shelf.ts";
import { type LedgerEntry, type UploadLedger, uploadKey } from "./upload-ledger.ts";

export interface UploadParts {
  readonly user: UserSession;
  readonly ledger: UploadLedger;
  readonly owner: DeviceOwner;
}

interface UploadOptions {
  readonly signal: AbortSignal;
  /** Sends a file once more that was sent before. */
  readonly again?: boolean | undefined;
  readonly title?: string | undefined;
  /** Each of so many channels is one speaker. */
  readonly speakerChannels?: number | undefined;
  /** Called with bytes that the service has, and those of the whole file. */
  readonly onProgress?: (stored: number, total: number) => void;
  readonly onRetry?: Attempts["onRetry"];
}

export interface Uploaded {
  readonly sessionId: string;
  readonly seconds: number;
  /** `known`: all of it had been sent before. `resumed`: a part had been. */
  readonly state: "sent" | "resumed" | "known";
}

/** A file, and the key of its content. */
interface Candidate {
  readonly name: string;
  readonly content: Blob;
  readonly key: string;
}

const MOST_CHUNKS = 1_000_000;

/**
 * Uploads a file as one session. A file that was sent before from here is not sent again, and one
 * that was sent in part is gone on with. Throws CommandFailure for a file that cannot be read.
 */
export async function uploadFile(
  parts: UploadParts,
  path: string,
  options: UploadOptions,
): Promise<Uploaded> {
  const { ledger, owner } = parts;
  const { content, sha256 } = await open(path, options.signal);
  const file = { name: basename(path), content, key: uploadKey(owner, sha256) };
  const unlock = ledger.lock(file.key);
  try {
    if (options.again) ledger.forget(file.key);
    const entry = ledger.find(file.key);
    const known = entry && (await goOn(parts, file, entry, options));
    return known ?? (await sendAnew(parts, file, options));
  } finally {
    unlock();
  }
}

async function open(path: string, signal: AbortSignal): Promise<{ content: Blob; sha256: string }> {
  try {
    const content = await openAsBlob(path);
    const hash = createHash("sha256");
    await pipeline(createReadStream(path), hash, { signal });
    return { content, sha256: hash.digest("hex") };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CommandFailure(`cannot read ${path}: ${reasonOf(error)}`, error);
  }
}

/** Undefined when the session takes no more and has nothing of it. */
async function goOn(
  parts: UploadParts,
  file: Candidate,
  entry: LedgerEntry,
  options: UploadOptions,
): Promise<Uploaded | undefined> {
  const { user, ledger } = parts;
  const { session_id: sessionId } = entry;
  const seconds = await storedSeconds(user, sessionId);
  if (entry.done) return { sessionId, seconds, state: "known" };
  try {
    return await send(parts, file, entry, options, "resumed");
  } catch (error) {
    if (!(error instanceof ApiError && [404, 409, 410].includes(error.status))) throw error;
    // All of it had come, which nobody was left to note.
    if (seconds > 0) {
      ledger.keep(file.key, { session_id: sessionId, done: true });
      return { sessionId, seconds, state: "resumed" };
    }
    await dropSession(user, sessionId);
    return undefined;
  }
}

/** Seconds of sound in a session; throws for one that was deleted since. */
async function storedSeconds(user: UserSession, sessionId: string): Promise<number> {
  const path = { session_id: sessionId };
  try {
    const { items } = await readPages(async (query) => {
      const page = await user.call((client) =>
        client.GET("/sessions/{session_id}/chunks", { params: { path, query } }),
      );
      return { items: page.chunks, next_cursor: page.next_cursor ?? null };
    }, MOST_CHUNKS);
    return items.reduce((sum, { duration_seconds = 0 }) => sum + duration_seconds, 0);
  } catch (error) {
    const isGone = error instanceof ApiError && /^(not_found|session_deleted)$/.test(error.code);
    if (!isGone) throw error;
    throw new CommandFailure(
      `it was uploaded before, and its session ${sessionId} was deleted since; --again uploads it once more`,
      error,
    );
  }
}

async function sendAnew(
  parts: UploadParts,
  file: Candidate,
  options: UploadOptions,
): Promise<Uploaded> {
  const { user, ledger, owner } = parts;
  const { title = file.name, speakerChannels: speaker_channels } = options;
  const body = {
    ...{ workspace_id: owner.workspace_id, title: title.slice(0, 200) },
    ...(speaker_channels === undefined ? {} : { speaker_channels }),
  };
  const { id } = await user.call((client) => client.POST("/sessions", { body }));
  const entry = { session_id: id, done: false };
  ledger.keep(file.key, entry);
  try {
    return await send(parts, file, entry, options, "sent");
  } catch (error) {
    if (isRefused(error)) {
      // What the service does not take leaves no empty session behind.
      ledger.forget(file.key);
      await dropSession(user, id);
    }
    throw error;
  }
}

async function send(
  { user, ledger }: UploadParts,
  { name, content, key }: Candidate,
  { session_id, address }: LedgerEntry,
  { signal, onProgress, onRetry }: UploadOptions,
  state: Uploaded["state"],
): Promise<Uploaded> {
  const store: UploadStore = {
    getItem: () => address ?? null,
    setItem: (_, given) => ledger.keep(key, { session_id, address: given, done: false }),
    removeItem: () => ledger.keep(key, { session_id, done: false }),
  };
  const progress = { signal, onProgress, onRetry, backOff: user.api.backOff };
  await new FileUpload(user.own, session_id, content, { filename: name, store, ...progress }).run();
  ledger.keep(key, { session_id, done: true });
  return { sessionId: session_id, seconds: await storedSeconds(user, session_id), state };
}

/** True when the same file would be refused again. */
function isRefused(error: unknown): boolean {
  if (error instanceof UploadError) return error.code !== "invalid_answer";
  return error instanceof ApiError && [400, 413, 415, 422].includes(error.status);
}

async function dropSession(user: UserSession, sessionId: string): Promise<void> {
  const params = { path: { session_id: sessionId } };
  await user
    .call((client) => client.DELETE("/sessions/{session_id}", { params }))
    .catch(() => undefined);
}
