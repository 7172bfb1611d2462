import { signal } from "@preact/signals";

/** How an upload does. */
export type UploadPhase =
  | { readonly kind: "queued" }
  /** `leftMs`: how long the rest takes, milliseconds; undefined while nobody can tell. */
  | { readonly kind: "sending"; readonly leftMs: number | undefined }
  | { readonly kind: "paused" }
  /** Tried again by itself; `away` is what it waits for. */
  | { readonly kind: "waiting"; readonly away: "network" | "service" }
  /** Begun before the page was loaded again: its file has to be chosen once more. */
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly why: string; readonly mayRetry: boolean }
  | { readonly kind: "done" };

/** An upload as the page shows it. */
export interface ShownUpload {
  readonly id: string;
  /** Of the file. */
  readonly name: string;
  /** Bytes, as below. */
  readonly size: number;
  readonly sent: number;
  /** Undefined until it was made. */
  readonly sessionId: string | undefined;
  readonly phase: UploadPhase;
}

/** The uploads of whoever is signed in, in the order in which they came. */
export const uploads = signal<readonly ShownUpload[]>([]);

/** True for one that is neither done nor refused. */
export function isUnfinished({ phase }: ShownUpload): boolean {
  return phase.kind !== "done" && phase.kind !== "failed";
}

/** How far a file is sent, in whole percent; 100 once all of it is. */
export function percentOf(sent: number, size: number): number {
  return size === 0 ? 0 : Math.floor((100 * sent) / size);
}

const KEPT = "voice.uploads";

/** True where this browser keeps uploads of somebody: only then their code is loaded at the start. */
export function areUploadsSaved(): boolean {
  try {
    return localStorage.getItem(KEPT) !== null;
  } catch {
    return false;
  }
}

export function noteUploadsSaved(are: boolean): void {
  try {
    if (are) localStorage.setItem(KEPT, "yes");
    else localStorage.removeItem(KEPT);
  } catch {
    // A browser that keeps nothing has nothing to go on with.
  }
}
