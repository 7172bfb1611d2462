import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { type Attempts, type BackOff, type Retry, withRetries } from "../../client/back-off.ts";
import { ApiError, reasonOf } from "../../client/errors.ts";
import { CommandFailure } from "../client/command-context.ts";
import { readPages } from "../client/pages.ts";
import type { UserSession } from "../client/user-session.ts";
import type { DeviceOwner, DeviceShelf } from "./device-shelf.ts";
import { startRecording } from "./simulated-device.ts";
import { type LedgerEntry, UploadLedger } from "./upload-ledger.ts";
import { planUpload, type UploadPlan } from "./upload-plan.ts";
import { VirtualDevice } from "./virtual-device.ts";

export interface UploadParts {
  readonly user: UserSession;
  readonly shelf: DeviceShelf;
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
  /** Called with seconds that the service has, and those of the whole file. */
  readonly onProgress?: (sent: number, total: number) => void;
  readonly onRetry?: Attempts["onRetry"];
}

export interface Uploaded {
  readonly sessionId: string;
  readonly seconds: number;
  /** `known`: all of it had been sent before. `resumed`: a part had been. */
  readonly state: "sent" | "resumed" | "known";
}

const MOST_BYTES = 1024 ** 3;
/** The service asks uploads to wait while much of a session is not read yet: for an hour at most. */
const BUSY: BackOff = { attempts: 240, firstMs: 1_000, longestMs: 15_000 };

/**
 * Uploads a file as one session. A file that was sent before from here is not sent again, and one
 * that was sent in part is gone on with. Throws CommandFailure for a file that cannot be read.
 */
export async function uploadFile(
  parts: UploadParts,
  file: string,
  options: UploadOptions,
): Promise<Uploaded> {
  const bytes = read(file);
  const { ledger, owner } = parts;
  const key = UploadLedger.keyOf(owner, bytes);
  const unlock = ledger.lock(key);
  try {
    if (options.again) ledger.forget(key);
    const entry = ledger.find(key);
    const known = entry === undefined ? undefined : await stateOf(parts, entry);
    const plan = await planUpload(file, bytes);
    if (entry?.done) return { sessionId: entry.session_id, seconds: plan.seconds, state: "known" };
    if (entry !== undefined && known !== undefined) {
      const resumed = await resume(parts, { entry, key, plan }, known, options);
      if (resumed !== undefined) return resumed;
    }
    return await sendAnew(parts, { file, key, plan }, options);
  } finally {
    unlock();
  }
}

function read(file: string): Buffer {
  try {
    if (statSync(file).size > MOST_BYTES) throw new Error("larger than 1 GiB");
    return readFileSync(file);
  } catch (error) {
    throw new CommandFailure(`cannot read ${file}: ${reasonOf(error)}`, error);
  }
}

/** The sequences of a session's chunks; throws for one that was deleted since. */
async function stateOf({ user }: UploadParts, entry: LedgerEntry): Promise<Set<number>> {
  const path = { session_id: entry.session_id };
  try {
    const { items } = await readPages(async (query) => {
      const page = await user.call((client) =>
        client.GET("/sessions/{session_id}/chunks", { params: { path, query } }),
      );
      return { items: page.chunks, next_cursor: page.next_cursor ?? null };
    }, 1_000_000);
    return new Set(items.map(({ chunk_sequence }) => chunk_sequence));
  } catch (error) {
    const isGone = error instanceof ApiError && /^(not_found|session_deleted)$/.test(error.code);
    if (!isGone) throw error;
    throw new CommandFailure(
      `it was uploaded before, and its session ${entry.session_id} was deleted since; --again uploads it once more`,
      error,
    );
  }
}

/** Undefined when it cannot be gone on with: the device is gone, or the session takes no more. */
async function resume(
  { user, shelf, ledger, owner }: UploadParts,
  { entry, key, plan }: { entry: LedgerEntry; key: string; plan: UploadPlan },
  stored: ReadonlySet<number>,
  options: UploadOptions,
): Promise<Uploaded | undefined> {
  const kept = shelf.find(owner).find(({ device_id }) => device_id === entry.device_id);
  if (kept === undefined) return undefined;
  const { session_id: sessionId } = entry;
  const device = new VirtualDevice(user.api, kept, options.onRetry);
  try {
    await sendChunks(device, sessionId, plan, stored, options);
  } catch (error) {
    const isOver =
      error instanceof ApiError && /^(session_ended|invalid_api_key)$/.test(error.code);
    if (!isOver) throw error;
    return undefined;
  }
  ledger.keep(key, { ...entry, done: true });
  return { sessionId, seconds: plan.seconds, state: "resumed" };
}

async function sendAnew(
  { user, shelf, ledger, owner }: UploadParts,
  { file, key, plan }: { file: string; key: string; plan: UploadPlan },
  options: UploadOptions,
): Promise<Uploaded> {
  const title = (options.title ?? basename(file)).slice(0, 200);
  const { speakerChannels: speaker_channels } = options;
  const wanted = {
    ...{ workspaceId: owner.workspace_id, title },
    ...(speaker_channels === undefined ? {} : { speaker_channels }),
  };
  const recording = await startRecording({ user, shelf, onRetry: options.onRetry }, wanted);
  const { device, sessionId } = recording;
  const entry = { session_id: sessionId, device_id: device.id, done: false };
  ledger.keep(key, entry);
  try {
    await sendChunks(device, sessionId, plan, new Set(), options);
  } catch (error) {
    if (isRefused(error)) {
      // What the service does not take leaves no empty session behind.
      ledger.forget(key);
      await dropSession(user, device, sessionId);
    }
    throw error;
  }
  ledger.keep(key, { ...entry, done: true });
  return { sessionId, seconds: plan.seconds, state: "sent" };
}

/** True when the same file would be refused again. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && [400, 413, 415, 422].includes(error.status);
}

async function dropSession(
  user: UserSession,
  device: VirtualDevice,
  sessionId: string,
): Promise<void> {
  const params = { path: { session_id: sessionId } };
  await device.stopSession(sessionId, -1).catch(() => undefined);
  await user
    .call((client) => client.DELETE("/sessions/{session_id}", { params }))
    .catch(() => undefined);
}

/** Sends what is not stored yet, and stops the session. */
async function sendChunks(
  device: VirtualDevice,
  sessionId: string,
  { seconds, chunks }: UploadPlan,
  stored: ReadonlySet<number>,
  { signal, onProgress, onRetry }: UploadOptions,
): Promise<void> {
  let last = -1;
  onProgress?.(0, seconds);
  for (const chunk of chunks()) {
    if (!stored.has(chunk.sequence)) {
      const attempts = { backOff: BUSY, judge: whenBusy, onRetry, signal };
      await withRetries(() => device.upload(sessionId, chunk, signal), attempts);
    }
    last = chunk.sequence;
    onProgress?.(chunk.recordedAt, seconds);
  }
  await device.stopSession(sessionId, last, signal);
}

function whenBusy(error: unknown): Retry {
  if (!(error instanceof ApiError)) return { retryable: false };
  const { status, code, retryAfterMs } = error;
  return { retryable: status === 429 || code === "overloaded", retryAfterMs };
}
