import type { ApiClient } from "./api-client.ts";
import { type BackOff, PATIENT, waitBefore } from "./back-off.ts";
import { delay } from "./delay.ts";
import { ApiError, NotFoundError, UploadError, VoiceError } from "./errors.ts";
import type { components } from "./gen/api-schema.ts";

export type Upload = components["schemas"]["Upload"];

export interface UploadOptions {
  /** Told to the service; of a `File` its own name unless given. */
  readonly filename?: string | undefined;
  /** Such as `audio/mp4`; of a `Blob` its own type unless given. What the file is says its content. */
  readonly mediaType?: string | undefined;
  /** Address of an upload that was begun before, from `onAddress`: goes on with it. */
  readonly address?: string | undefined;
  /** True: another file follows, and the recording does not end with this one. */
  readonly more?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The waits after consecutive failures that brought no byte further. */
  readonly backOff?: BackOff | undefined;
  /** Called with the address of the upload as soon as there is one: kept, it can be gone on with. */
  readonly onAddress?: ((address: string) => void) | undefined;
  /** Called with the bytes that are durable. */
  readonly onProgress?: ((stored: number, size: number) => void) | undefined;
  readonly onRetry?: ((error: unknown, waitMs: number) => void) | undefined;
}

const TUS = { "Tus-Resumable": "1.0.0" };
/** The service judges what a file is by its first piece: a small one, so that nothing is sent in vain. */
const FIRST_PIECE = 64 * 1024;
/** So much goes in each request after it: the service makes it durable, and says so. */
const PIECE = 4 * 1024 * 1024;
/** What a slow line needs for a piece; what has come until then is kept. */
const PIECE_MS = 5 * 60_000;
/** Time between two looks whether the sound is in the session, milliseconds. */
const LOOK_MS = 500;

/**
 * Brings a whole file to a session by tus 1.0, in pieces. After each failure that may pass it asks
 * how much the service has, and goes on there. Resolves when its sound is in the session. Rejects with
 * `UploadError` when that cannot be stored, `ApiError` for other refusals, or the signal's reason.
 */
export class FileUpload {
  readonly #api: ApiClient;
  readonly #sessionId: string;
  readonly #file: Blob;
  readonly #options: UploadOptions;
  #address: string | undefined;
  #offset = 0;
  /** Failures since the last byte that came. */
  #failures = 0;

  constructor(api: ApiClient, sessionId: string, file: Blob, options: UploadOptions) {
    this.#api = api;
    this.#sessionId = sessionId;
    this.#file = file;
    this.#options = options;
    this.#address = options.address;
  }

  async run(): Promise<Upload> {
    await this.#persistently(() => this.#create());
    await this.#persistently(() => this.#ask());
    while (this.#offset < this.#file.size) await this.#persistently(() => this.#bring());
    return this.#stored();
  }

  /** Does a step until it succeeds, fails for good, or has failed too often without any progress. */
  async #persistently(step: () => Promise<void>): Promise<void> {
    const { signal, onRetry, backOff = PATIENT } = this.#options;
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof VoiceError && isPassing(error))) throw error;
        if (++this.#failures >= backOff.attempts) throw error;
        const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
        const waitMs = Math.max(asked, waitBefore(this.#failures, backOff));
        onRetry?.(error, waitMs);
        await delay(waitMs, signal);
        if (this.#address !== undefined) await this.#askQuietly();
      }
    }
  }

  async #create(): Promise<void> {
    if (this.#address !== undefined) return;
    // The answer to an attempt before may have been lost: a second upload would hold the session open.
    const known = this.#failures > 0 ? await this.#begunBefore() : undefined;
    if (known !== undefined) return this.#found(`${this.#uploads}/${known}`);
    const { filename, mediaType, more } = this.#options;
    const named = filename ?? ("name" in this.#file ? String(this.#file.name) : "audio");
    const type = mediaType || this.#file.type || "application/octet-stream";
    const headers = {
      ...TUS,
      "Upload-Length": String(this.#file.size),
      "Upload-Metadata": `filename ${base64(named)},filetype ${base64(type)}`,
    };
    const query = more === true ? "?more=true" : "";
    const answer = await this.#send(`${this.#uploads}${query}`, { method: "POST", headers });
    const upload = (await answer.json()) as Upload;
    this.#found(`${this.#uploads}/${upload.id}`);
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

  #found(address: string): void {
    this.#address = address;
    this.#options.onAddress?.(address);
  }

  get #uploads(): string {
    return `${this.#api.baseUrl}/sessions/${this.#sessionId}/uploads`;
  }

  /** How many bytes the service has. */
  async #ask(): Promise<void> {
    const answer = await this.#send(this.#address ?? "", { method: "HEAD", headers: TUS });
    this.#moved(answer.headers.get("upload-offset"));
  }

  async #askQuietly(): Promise<void> {
    await this.#ask().catch((error: unknown) => {
      if (error instanceof NotFoundError || !(error instanceof VoiceError)) throw error;
    });
  }

  async #bring(): Promise<void> {
    const from = this.#offset;
    // All came with the request before, whose answer did not.
    if (from === this.#file.size) return;
    const piece = this.#file.slice(from, from + (from === 0 ? FIRST_PIECE : PIECE));
    const headers = {
      ...TUS,
      "Content-Type": "application/offset+octet-stream",
      "Upload-Offset": String(from),
    };
    const order = { method: "PATCH", headers, body: await piece.arrayBuffer() };
    const answer = await this.#send(this.#address ?? "", order, PIECE_MS);
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
      await delay(LOOK_MS, signal);
    }
  }

  #send(url: string, init: RequestInit, timeoutMs?: number): Promise<Response> {
    return this.#api.send(url, init, { signal: this.#options.signal, timeoutMs });
  }
}

/**
 * Of a piece also 409 and 423: the request before, which broke, still has it in hand, or brought more
 * than it told.
 */
function isPassing(error: VoiceError): boolean {
  if (error.code === "session_ended") return false;
  const isOfPiece = error instanceof ApiError && error.call.startsWith("PATCH ");
  return error.isRetryable || (isOfPiece && (error.status === 409 || error.status === 423));
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
