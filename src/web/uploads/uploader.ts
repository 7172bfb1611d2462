import { type ApiClient, newKey } from "../../client/api-client.ts";
import { waitBefore } from "../../client/back-off.ts";
import { apiError, VoiceError } from "../../client/errors.ts";
import { FileUpload, type UploadStore } from "../../client/upload.ts";
import { messageOf } from "../api/client.ts";
import { ownWorkspace } from "../parts/own-workspaces.ts";
import { showToast } from "../parts/toasts.tsx";
import { fingerprintOf, sizeText, titleOf } from "./file-facts.ts";
import { awayOf, nextStep, refusalByCode, UPLOAD_BACK_OFF } from "./refusals.ts";
import { type SavedUpload, SavedUploads, type Wanted } from "./saved-uploads.ts";
import {
  apiOfAccount,
  deleteEmptySession,
  giveUpUpload,
  makeSession,
  mostBytes,
  stopSession,
  storedBytes,
  uploadStatusOf,
} from "./upload-calls.ts";
import {
  type Entry,
  headOf,
  isAtRisk,
  judge,
  lockedUploads,
  lockUpload,
  newEntry,
  pause,
  pausedPhase,
  shownOf,
} from "./upload-entry.ts";
import { isUnfinished, type UploadPhase, uploads } from "./upload-state.ts";

/** Files that are sent at the same time. */
const AT_ONCE = 2;
/** How often a file begins anew before it is left to its person. */
const MOST_ATTEMPTS = 4;

/**
 * Sends the files of one account, some at a time, and goes on with those that were begun before the
 * page was loaded again. What it does shows in `uploads`. None of its methods rejects.
 */
export class Uploader {
  readonly #accountId: string;
  readonly #store = new SavedUploads();
  readonly #over = new AbortController();
  readonly #api: ApiClient;
  /** Ends the pauses of those that wait. */
  readonly #hurry = new EventTarget();
  #entries: readonly Entry[] = [];

  constructor(accountId: string) {
    this.#accountId = accountId;
    this.#api = apiOfAccount(accountId, this.#over.signal);
    const online = () => this.#hurry.dispatchEvent(new Event("hurry"));
    addEventListener("online", online, { signal: this.#over.signal });
    const warn = (event: BeforeUnloadEvent) => {
      if (this.#entries.some(isAtRisk)) event.preventDefault();
    };
    addEventListener("beforeunload", warn, { signal: this.#over.signal });
  }

  /** Goes on with what this browser keeps of the account; what another tab brings, once it does not. */
  async takeUp(): Promise<void> {
    const kept = await this.#store.of(this.#accountId);
    const elsewhere = await lockedUploads();
    const [theirs, free] = [
      kept.filter(({ id }) => elsewhere.has(id)),
      kept.filter(({ id }) => !elsewhere.has(id)),
    ];
    for (const { id } of theirs) void this.#takeUpOne(id);
    await Promise.all(free.map(({ id }) => this.#takeUpOne(id)));
  }

  async #takeUpOne(id: string): Promise<void> {
    const { signal } = this.#over;
    const release = await lockUpload(id, signal).catch(() => undefined);
    if (release === undefined) return;
    // Another tab may have brought it while this one waited.
    const kept = await this.#store.find(id);
    const file = await this.#store.file(id);
    if (kept === undefined || this.#find(id) !== undefined || signal.aborted) return release();
    const entry = this.#enter(newEntry(kept, file, pausedPhase(kept, file), release));
    entry.isKept = true;
    this.#pump();
    if (entry.phase.kind !== "queued") await this.#askWhereItIs(entry);
  }

  /** Of what does not go on by itself: the service may have more of it than was last heard. */
  async #askWhereItIs(entry: Entry): Promise<void> {
    const { address } = entry.kept;
    const stored = address && (await storedBytes(this.#api, address));
    if (typeof stored !== "number" || entry.run !== undefined) return;
    entry.sent = stored;
    this.#publish();
  }

  /** Sends files to where they are wanted. */
  async bring(files: readonly File[], wanted: Wanted): Promise<void> {
    const most = await mostBytes();
    for (const file of files) {
      const refusal = await judge(file, most);
      if (this.#over.signal.aborted) return;
      const known = this.#entries.find(
        (each) => isUnfinished(shownOf(each)) && fingerprintOf(each.kept) === fingerprintOf(file),
      );
      if (known?.phase.kind === "missing") this.#giveFile(known, file);
      else if (known !== undefined) showToast(`“${file.name}” is being uploaded already.`);
      else await this.#add(file, wanted, refusal);
    }
  }

  /** Gives the file again that a reload took. */
  giveAgain(id: string, file: File): void {
    const entry = this.#find(id);
    if (entry?.phase.kind !== "missing") return;
    if (fingerprintOf(entry.kept) === fingerprintOf(file)) return this.#giveFile(entry, file);
    showToast(`This is another file. Choose “${entry.kept.name}” of ${sizeText(entry.kept.size)}.`);
  }

  pause(id: string): void {
    const entry = this.#find(id);
    if (entry === undefined || !isUnfinished(shownOf(entry))) return;
    entry.run?.stop.abort();
    this.#show(entry, { kind: "paused" });
    void this.#keep(entry, { isPaused: true });
  }

  /** After a pause, or once more after a failure. */
  resume(id: string): void {
    const entry = this.#find(id);
    if (entry === undefined) return;
    void this.#keep(entry, { isPaused: false });
    this.#show(entry, pausedPhase(entry.kept, entry.file));
    this.#pump();
  }

  /** Ends it for good: of a file that has not come as a whole nothing is left. */
  async cancel(id: string): Promise<void> {
    const entry = this.#find(id);
    if (entry === undefined) return;
    const { run } = entry;
    run?.stop.abort();
    this.#drop(entry);
    await run?.done;
    try {
      const isWhole = !(await this.#discard(entry));
      if (isWhole) showToast(`“${entry.kept.name}” had come already: its session is in the list.`);
    } catch {
      showToast(
        `“${entry.kept.name}” is not sent any more. Its empty session could not be deleted.`,
      );
    }
    entry.release();
  }

  /** Takes one off the list that is done or has failed. */
  dismiss(id: string): void {
    const entry = this.#find(id);
    if (entry === undefined) return;
    this.#drop(entry);
    void this.#store.remove(id);
    entry.release();
  }

  /**
   * For whoever signs out: the bytes leave the browser. What else is kept is gone on with when the
   * account is back, and its person chooses the files again.
   */
  async stop(): Promise<void> {
    const entries = this.#entries;
    this.#over.abort();
    this.#entries = [];
    uploads.value = [];
    for (const { run } of entries) run?.stop.abort();
    await Promise.all(entries.map(({ run }) => run?.done));
    await this.#store.removeFiles(entries.map(({ kept }) => kept.id));
    for (const { release } of entries) release();
  }

  async #add(file: File, wanted: Wanted, refusal: string | undefined): Promise<void> {
    const { name, size, lastModified, type } = file;
    const kept: SavedUpload = {
      ...{ id: newKey(), accountId: this.#accountId, name, size, lastModified, type, ...wanted },
      ...{ round: 0, sent: 0, isPaused: false, begunAt: Date.now() },
    };
    if (refusal !== undefined) {
      const phase = { kind: "failed", why: refusal, mayRetry: false } as const;
      this.#enter(newEntry(kept, undefined, phase, () => {}));
      return;
    }
    const release = await lockUpload(kept.id, this.#over.signal).catch(() => undefined);
    if (release === undefined) return;
    const entry = this.#enter(newEntry(kept, file, { kind: "queued" }, release));
    entry.isKept = await this.#store.put(kept);
    // Large files take their time, for which the first bytes need not wait.
    if (entry.isKept) void this.#store.putFile(kept.id, file);
    this.#pump();
  }

  #enter(entry: Entry): Entry {
    this.#entries = [...this.#entries, entry];
    this.#publish();
    return entry;
  }

  #giveFile(entry: Entry, file: File): void {
    entry.file = file;
    if (entry.isKept) void this.#store.putFile(entry.kept.id, file);
    this.resume(entry.kept.id);
  }

  #pump(): void {
    if (this.#over.signal.aborted) return;
    const busy = this.#entries.filter(({ run }) => run !== undefined).length;
    const next = this.#entries.filter(({ phase, run }) => phase.kind === "queued" && !run);
    for (const entry of next.slice(0, Math.max(0, AT_ONCE - busy))) {
      const stop = new AbortController();
      this.#show(entry, { kind: "sending", leftMs: undefined });
      const done = this.#send(entry, stop.signal).finally(() => {
        entry.run = undefined;
        this.#pump();
      });
      entry.run = { stop, done };
    }
  }

  /** Until it is done, has failed, or is stopped. */
  async #send(entry: Entry, signal: AbortSignal): Promise<void> {
    let fruitless = 0;
    while (!signal.aborted) {
      const before = entry.kept.sent;
      try {
        await this.#sendOnce(entry, signal);
        if (!signal.aborted) await this.#finish(entry);
        return;
      } catch (error) {
        if (signal.aborted) return;
        fruitless = entry.kept.sent > before ? 1 : fruitless + 1;
        // That it waits is shown until the first byte passes again.
        if (!(await this.#recover(entry, error, fruitless, signal))) return;
      }
    }
  }

  async #sendOnce(entry: Entry, signal: AbortSignal): Promise<void> {
    const { file } = entry;
    if (file === undefined) throw new Error("The file is missing.");
    const sessionId = entry.kept.sessionId ?? (await this.#begin(entry));
    if (signal.aborted || (await this.#hasCome(entry, sessionId))) return;
    entry.pace.reset();
    const api = apiOfAccount(this.#accountId, signal);
    await new FileUpload(api, sessionId, file, {
      ...{ signal, backOff: UPLOAD_BACK_OFF, store: this.#storeOf(entry) },
      onProgress: (stored) => this.#stored(entry, stored),
      onRetry: (error) => this.#show(entry, { kind: "waiting", away: awayOf(error) }),
      pause: (ms) => pause(ms, signal, this.#hurry),
    }).bring();
    await stopSession(this.#api, sessionId);
  }

  /**
   * True when the whole file has come before, which nobody was left to note. Throws `session_ended`
   * where the session takes no more: the last byte would be refused, after all the others.
   */
  async #hasCome({ kept }: Entry, sessionId: string): Promise<boolean> {
    if (kept.address === undefined) return false;
    const status = await uploadStatusOf(this.#api, sessionId);
    if (status === "open") return false;
    if (status === "come") return true;
    if ((await storedBytes(this.#api, kept.address)) === kept.size) return true;
    const said = "The session has ended.";
    throw apiError({ call: "PATCH", status: 409, code: "session_ended", said });
  }

  /** Where the address of its upload is kept. */
  #storeOf(entry: Entry): UploadStore {
    return {
      getItem: () => entry.kept.address ?? null,
      setItem: (_, address) => this.#keep(entry, { address }),
      removeItem: () => this.#keep(entry, { address: undefined }),
    };
  }

  async #begin(entry: Entry): Promise<string> {
    const { id, name, round, language } = entry.kept;
    const workspaceId = await ownWorkspace(entry.kept.workspaceId);
    const wish = { title: titleOf(name), workspaceId, language, key: `${id}-${round}` };
    const sessionId = await makeSession(this.#api, wish);
    await this.#keep(entry, { sessionId, workspaceId });
    return sessionId;
  }

  #stored(entry: Entry, bytes: number): void {
    entry.sent = bytes;
    void this.#keep(entry, { sent: bytes });
    entry.pace.add({ at: performance.now(), bytes });
    this.#show(entry, { kind: "sending", leftMs: entry.pace.leftMs(entry.kept.size) });
  }

  /** What is done about an error; false when the upload goes on no more by itself. */
  async #recover(
    entry: Entry,
    error: unknown,
    fruitless: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (entry.file === undefined || (await headOf(entry.file, 1)) === undefined) {
      // Moved, changed or unplugged since it was chosen.
      entry.file = undefined;
      this.#show(entry, { kind: "missing" });
      return false;
    }
    if (!(error instanceof VoiceError)) return this.#fail(entry, error);
    const step = nextStep(error);
    const { sessionId } = entry.kept;
    if (step.kind === "again") {
      this.#show(entry, { kind: "waiting", away: step.away });
      await pause(waitBefore(fruitless, UPLOAD_BACK_OFF), signal, this.#hurry);
      return true;
    }
    if (fruitless > MOST_ATTEMPTS || step.kind === "fail") return this.#fail(entry, error);
    if (sessionId === undefined) return this.#fail(entry, error);
    // It ended while the file was paused, or its part was given up: nothing of it is left there.
    void deleteEmptySession(this.#api, sessionId).catch(() => undefined);
    showToast(
      `“${entry.kept.name}” is sent from the beginning: the service has given its part up.`,
    );
    entry.sent = 0;
    const round = entry.kept.round + 1;
    await this.#keep(entry, { sessionId: undefined, address: undefined, sent: 0, round });
    return true;
  }

  async #fail(entry: Entry, error: unknown): Promise<false> {
    const code = error instanceof VoiceError ? error.code : "";
    const refusal = refusalByCode(code);
    const why = refusal ?? messageOf(error);
    this.#show(entry, { kind: "failed", why, mayRetry: refusal === undefined });
    if (refusal === undefined) return false;
    await this.#discard(entry).catch(() => undefined);
    entry.release();
    return false;
  }

  async #finish(entry: Entry): Promise<void> {
    entry.sent = entry.kept.size;
    this.#show(entry, { kind: "done" });
    await this.#store.remove(entry.kept.id);
    entry.release();
  }

  /** Leaves nothing of it. False when the whole file has come: then the session stays. */
  async #discard({ kept }: Entry): Promise<boolean> {
    await this.#store.remove(kept.id);
    if (kept.sessionId === undefined) return true;
    const isGone = kept.address === undefined || (await giveUpUpload(this.#api, kept.address));
    if (isGone) await deleteEmptySession(this.#api, kept.sessionId);
    else await stopSession(this.#api, kept.sessionId);
    return isGone;
  }

  async #keep(entry: Entry, change: Partial<SavedUpload>): Promise<void> {
    entry.kept = { ...entry.kept, ...change };
    // One that was cancelled meanwhile is not kept once more.
    if (!entry.isKept || !this.#entries.includes(entry)) return;
    entry.isKept = await this.#store.put(entry.kept);
  }

  #find(id: string): Entry | undefined {
    return this.#entries.find(({ kept }) => kept.id === id);
  }

  #drop(entry: Entry): void {
    this.#entries = this.#entries.filter((each) => each !== entry);
    this.#publish();
  }

  #show(entry: Entry, phase: UploadPhase): void {
    // What was paused or cancelled a moment ago is not shown as going on.
    if (phase.kind === "sending" && entry.run?.stop.signal.aborted) return;
    entry.phase = phase;
    this.#publish();
  }

  #publish(): void {
    if (!this.#over.signal.aborted) uploads.value = this.#entries.map(shownOf);
  }
}
