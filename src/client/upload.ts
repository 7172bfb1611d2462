import type { ApiClient } from "./api-client.ts";
import { asksTooMuch, type BackOff, PATIENT, waitBefore } from "./back-off.ts";
import { delay } from "./delay.ts";
import { ApiError, UploadError, VoiceError } from "./errors.ts";
import type { components } from "./gen/api-schema.ts";

/** The service judges what a file is by its first part: a small one, so that nothing is sent in vain. */
const FIRST = 64 * 1024;

/** More in a request brings nothing: the service makes each durable. */
const MOST = 8 * 1024 * 1024;

/** How long a part should take, milliseconds: so often it is known how much has come. */
const AIM_MS = 2_000;

const GROWTH = 4;

/** How many bytes of a file go in a request, by how long those before took. */
export class PartSize {
  #next = FIRST;

  get next(): number {
    return this.#next;
  }

  /** The part of this size has come, after so many milliseconds. */
  took(ms: number): void {
    const wanted = Math.round(this.#next * Math.min(GROWTH, AIM_MS / Math.max(1, ms)));
    this.#next = Math.min(MOST, Math.max(FIRST, wanted));
  }

  /** It did not come: the line may be slower by now. */
  failed(): void {
    this.#next = FIRST;
  }
}

export type Upload = components["schemas"]["Upload"];

/**
 * Where the addresses of unfinished uploads are kept, each by a key of its session and file, so that
 * another process or a page that is loaded again goes on with them: a browser's `localStorage`, or
 * anything with these methods.
 */
export interface UploadStore {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, address: string): unknown;
  removeItem(key: string): unknown;
}

export interface UploadOptions {
  /** Told to the service; of a `File` its own name unless given. */
  readonly filename?: string | undefined;
  /** Such as `audio/mp4`; of a `Blob` its own type unless given. What the file is says its content. */
  readonly mediaType?: string | undefined;
  /** Keeps the address while the file is not there as a whole: the same call goes on with it. */
  readonly store?: UploadStore | undefined;
  /** True: another file follows, and the recording does not end with this one. */
  readonly more?: boolean | undefined;
  /** Ends the call and keeps what has come, as a pause does; the same call goes on. */
  readonly signal?: AbortSignal | undefined;
  /** The waits after consecutive failures that brought no byte further. */
  readonly backOff?: BackOff | undefined;
  /** Called with the bytes that are durable. */
  readonly onProgress?: ((stored: number, size: number) => void) | undefined;
  readonly onRetry?: ((error: unknown, waitMs: number) => void) | undefined;
  /** Waits between attempts, in place of the clock: who has news of the network waits shorter. */
  readonly pause?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

const TUS = { "Tus-Resumable": "1.0.0" };
/** A part that takes so long is on a line that has broken: what came of it until then is kept. */
const PART_MS = 60_000;
/** Time between two polls whether the sound is in the session, milliseconds. */
const POLL_MS = 500;

/**
 * Brings a whole file to a session by tus 1.0, in parts. After each failure that may pass it asks
 * how much the service has, and goes on there. Rejects with `UploadError` when the file cannot be
 * stored, `ApiError` for other refusals, or the signal's reason.
 */
export class FileUpload {
  readonly #api: ApiClient;
  readonly #sessionId: string;
  readonly #file: Blob;
  readonly #options: UploadOptions;
  readonly #parts = new PartSize();
  #address: string | undefined;
  #offset = 0;
  /** Failures since the last byte that came. */
  #failures = 0;

  constructor(api: ApiClient, sessionId: string, file: Blob, options: UploadOptions) {
    this.#api = api;
    this.#sessionId = sessionId;
    this.#file = file;
    this.#options = options;
  }

  /** Resolves when the file's sound is in the session. */
  async run(): Promise<Upload> {
    await this.bring();
    const upload = await this.#remembered(() => this.#stored());
    await this.#options.store?.removeItem(this.#key);
    return upload;
  }

  /** Resolves when the service has all bytes; what becomes of them is not waited for. */
  bring(): Promise<void> {
    return this.#remembered(async () => {
      await this.#goOn();
      if (this.#address === undefined) {
        await this.#persistently(() => this.#create());
        await this.#persistently(() => this.#ask());
      }
      while (this.#offset < this.#file.size) await this.#persistently(() => this.#bring());
    });
  }

  /** Forgets an upload that can never be finished. */
  async #remembered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error)) await this.#options.store?.removeItem(this.#key);
      throw error;
    }
  }

  /** Finds the upload that was begun before, unless the service has given it up. */
  async #goOn(): Promise<void> {
    this.#address = (await this.#options.store?.getItem(this.#key)) ?? undefined;
    if (this.#address === undefined) return;
    try {
      await this.#persistently(() => this.#ask());
    } catch (error) {
      if (!isGone(error)) throw error;
      this.#address = undefined;
    }
  }

  /** Does a step until it succeeds, fails for good, or has failed too often without any progress. */
  async #persistently(step: () => Promise<void>): Promise<void> {
    const { signal, onRetry, pause = delay, backOff = PATIENT } = this.#options;
    for (;;) {
      const from = this.#offset;
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof VoiceError && isPassing(error))) throw error;
        const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
        if (++this.#failures >= backOff.attempts || asksTooMuch(asked, backOff)) throw error;
        const waitMs = Math.max(asked, waitBefore(this.#failures, backOff));
        this.#parts.failed();
        onRetry?.(error, waitMs);
        await pause(waitMs, signal);
        signal?.throwIfAborted();
        if (this.#address === undefined) continue;
        const isAsked = await this.#askQuietly();
        // It was not for the number of bytes: the next attempt would be refused as well.
        if (isAsked && isConflict(error) && this.#offset === from) throw error;
      }
    }
  }

  async #create(): Promise<void> {
    if (this.#address !== undefined) return;
    // The answer to an attempt before may have been lost: a second upload would hold the session open.
    const known = this.#failures > 0 ? await this.#begunBefore() : undefined;
    if (known !== undefined) return this.#found(`${this.#uploads}/${known}`);
    const { filename, mediaType, more } = this.#options;
    const named = filename ?? this.#name ?? "audio";
    const type = mediaType || this.#file.type || "application/octet-stream";
    const headers = {
      ...TUS,
      "Upload-Length": String(this.#file.size),
      "Upload-Metadata": `filename ${base64(named)},filetype ${base64(type)}`,
    };
    const query = more === true ? "?more=true" : "";
    const answer = await this.#send(`${this.#uploads}${query}`, { method: "POST", headers });
    const upload = (await answer.json()) as Upload;
    await this.#found(`${this.#uploads}/${upload.id}`);
  }

  /** The id of an upload of this size of which nothing has come. */
  async #begunBefore(): Promise<string | undefined> {
    const { items } = await this.#api.once(
      (client) =>
        client.GET("/sessions/{session_id}/uploads", {
          params: { path: { session_id: this.#sessionId } },
        }),
      { signal: this.#options.signal },
    );
    return items.find(
      ({ status, size, received }) =>
        status === "receiving" && received === 0 && size === this.#file.size,
    )?.id;
  }

  async #found(address: string): Promise<void> {
    this.#address = address;
    await this.#options.store?.setItem(this.#key, address);
  }

  get #uploads(): string {
    return `${this.#api.baseUrl}/sessions/${this.#sessionId}/uploads`;
  }

  get #name(): string | undefined {
    return "name" in this.#file ? String(this.#file.name) : undefined;
  }

  /** The same for the same file and session. */
  get #key(): string {
    const { filename = this.#name } = this.#options;
    const changed = "lastModified" in this.#file ? this.#file.lastModified : undefined;
    return `voice-upload ${JSON.stringify([this.#uploads, filename, this.#file.size, changed])}`;
  }

  /** How many bytes the service has. */
  async #ask(): Promise<void> {
    const answer = await this.#send(this.#address ?? "", { method: "HEAD", headers: TUS });
    this.#moved(answer.headers.get("upload-offset"));
  }

  /** False when there was no answer. */
  async #askQuietly(): Promise<boolean> {
    try {
      await this.#ask();
      return true;
    } catch (error) {
      if (isGone(error) || !(error instanceof VoiceError)) throw error;
      return false;
    }
  }

  async #bring(): Promise<void> {
    const from = this.#offset;
    // All came with the request before, whose answer did not.
    if (from === this.#file.size) return;
    const part = this.#file.slice(from, from + this.#parts.next);
    const headers = {
      ...TUS,
      "Content-Type": "application/offset+octet-stream",
      "Upload-Offset": String(from),
    };
    const order = { method: "PATCH", headers, body: await part.arrayBuffer() };
    const began = performance.now();
    const answer = await this.#send(this.#address ?? "", order, PART_MS);
    this.#parts.took(performance.now() - began);
    this.#moved(answer.headers.get("upload-offset"));
  }

  #moved(told: string | null): void {
    const offset = Number(told ?? Number.NaN);
    if (!Number.isInteger(offset) || offset < 0 || offset > this.#file.size) {
      throw new UploadError("invalid_answer", "The answer does not say how much has come.");
    }
    if (offset > this.#offset) this.#failures = 0;
    this.#offset = offset;
    this.#options.onProgress?.(offset, this.#file.size);
  }

  /** The service makes a session's sound of the file after its last byte. */
  async #stored(): Promise<Upload> {
    const uploadId = this.#address?.split("/").at(-1) ?? "";
    const path = { session_id: this.#sessionId, upload_id: uploadId };
    const { signal } = this.#options;
    for (;;) {
      const upload = await this.#api.call(
        (client) => client.GET("/sessions/{session_id}/uploads/{upload_id}", { params: { path } }),
        { signal },
      );
      if (upload.status === "stored") return upload;
      if (upload.status === "failed") {
        throw new UploadError(upload.error_code ?? "", upload.error ?? "It could not be stored.");
      }
      await delay(POLL_MS, signal);
    }
  }

  #send(url: string, init: RequestInit, timeoutMs?: number): Promise<Response> {
    return this.#api.send(url, init, { signal: this.#options.signal, timeoutMs });
  }
}

/**
 * Of a part also 409 and 423: the request before, which broke, still has it in hand, or brought more
 * than it told.
 */
function isPassing(error: VoiceError): boolean {
  if (error.code === "session_ended") return false;
  return error.isRetryable || isConflict(error) || isOfPart(error, 423);
}

/** The service has another number of bytes than was thought, or takes none any more. */
function isConflict(error: VoiceError): boolean {
  return isOfPart(error, 409);
}

function isOfPart(error: VoiceError, status: number): boolean {
  return error instanceof ApiError && error.call.startsWith("PATCH ") && error.status === status;
}

/** Said by the service itself, not by what stands in between. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code !== "" && [404, 410].includes(error.status);
}

/** True when nobody can go on any more; whoever signs in again, or is let in again, may. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof VoiceError) || error.isRetryable || isOfPart(error, 423)) return false;
  if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return false;
  return error.code !== "" && error.code !== "invalid_answer";
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
