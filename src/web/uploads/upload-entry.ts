import { HEAD_BYTES, refusalOf } from "./refusals.ts";
import type { SavedUpload } from "./saved-uploads.ts";
import { isUnfinished, type ShownUpload, type UploadPhase } from "./upload-state.ts";

/** The newest so many milliseconds tell how fast it goes. */
const WINDOW_MS = 15_000;

/** Sooner a pace says nothing. */
const LEAST_MS = 1_500;

interface Sample {
  /** Milliseconds of any steady clock. */
  readonly at: number;
  readonly bytes: number;
}

/** How fast a file is sent of late. */
export class Pace {
  #samples: readonly Sample[] = [];

  /** So many bytes of the file had been sent at that time. */
  add(sample: Sample): void {
    const newest = this.#samples.at(-1);
    // Bytes that are sent again: what was measured before them says nothing any more.
    const before = newest !== undefined && sample.bytes < newest.bytes ? [] : this.#samples;
    this.#samples = [...before.filter(({ at }) => sample.at - at <= WINDOW_MS), sample];
  }

  /** Begins anew after a pause. */
  reset(): void {
    this.#samples = [];
  }

  /** How long the rest takes at this pace, milliseconds; undefined while nobody can tell. */
  leftMs(size: number): number | undefined {
    const [first, newest] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || newest === undefined) return undefined;
    const [ms, bytes] = [newest.at - first.at, newest.bytes - first.bytes];
    if (ms < LEAST_MS || bytes <= 0) return undefined;
    return ((size - newest.bytes) * ms) / bytes;
  }
}

/** An upload as the uploader holds it. */
export interface Entry {
  kept: SavedUpload;
  /** Undefined where it has to be chosen again. */
  file: File | undefined;
  phase: UploadPhase;
  /** The browser keeps what it takes to go on after a reload. */
  isKept: boolean;
  /** Bytes that the service has. */
  sent: number;
  readonly pace: Pace;
  /** Set while it is being sent. */
  run: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  /** Other tabs of this browser may take it from here on. */
  readonly release: () => void;
}

export function newEntry(
  kept: SavedUpload,
  file: File | undefined,
  phase: UploadPhase,
  release: () => void,
): Entry {
  const idle = { pace: new Pace(), run: undefined };
  return { kept, file, phase, isKept: false, sent: kept.sent, release, ...idle };
}

export function shownOf({ kept, sent, phase }: Entry): ShownUpload {
  const { id, name, size, sessionId } = kept;
  return { id, name, size, sent, sessionId, phase };
}

/** True when more than the network would be lost with the page. */
export function isAtRisk(entry: Entry): boolean {
  return isUnfinished(shownOf(entry)) && !entry.isKept;
}

/** Of one that is not being sent and has not failed. */
export function pausedPhase({ isPaused }: SavedUpload, file: File | undefined): UploadPhase {
  if (file === undefined) return { kind: "missing" };
  return { kind: isPaused ? "paused" : "queued" };
}

/** A file's first bytes; undefined where the browser cannot read it, or no longer. */
export async function headOf(file: File, bytes: number): Promise<Uint8Array | undefined> {
  try {
    return new Uint8Array(await file.slice(0, bytes).arrayBuffer());
  } catch {
    return undefined;
  }
}

const UNREADABLE = "The browser cannot read this file. Folders are not taken.";

/** Why a file is not sent, if it is not; see `refusalOf`. */
export async function judge(file: File, most: number | undefined): Promise<string | undefined> {
  const head = await headOf(file, HEAD_BYTES);
  return head === undefined ? UNREADABLE : refusalOf(file, head, most);
}

const LOCK = "voice-upload-";

/** Those that some tab of this browser has. */
export async function lockedUploads(): Promise<ReadonlySet<string>> {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  return new Set(
    held.flatMap(({ name = "" }) => (name.startsWith(LOCK) ? [name.slice(LOCK.length)] : [])),
  );
}

/**
 * Has an upload for this tab alone, from when no other tab of the browser has it until the returned
 * function is called. Rejects when the signal is aborted before.
 */
export function lockUpload(id: string, signal: AbortSignal): Promise<() => void> {
  // Pages without TLS have no locks: then the service lets one tab at a time bring bytes.
  if (navigator.locks === undefined) return Promise.resolve(() => {});
  return new Promise((resolve, reject) => {
    const hold = () => new Promise<void>((release) => resolve(release));
    navigator.locks.request(`${LOCK}${id}`, { signal }, hold).catch(reject);
  });
}

/** Resolves after so long, when the signal is aborted, or when somebody hurries. */
export function pause(ms: number, signal: AbortSignal, hurry: EventTarget): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      hurry.removeEventListener("hurry", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    hurry.addEventListener("hurry", end);
  });
}
