import { DetailedError, type HttpResponse, Upload } from "tus-js-client";
import { ApiFailure } from "../api/client.ts";

/** The service judges what a file is by its first piece: a small one, so that nothing is sent in vain. */
const FIRST_PIECE = 64 * 1024;
/** So much goes in each request after it: the service makes it durable, and says so. */
const PIECE = 8 * 1024 * 1024;
/** A connection on which nothing moves for so long has broken, milliseconds. */
const STALLED_MS = 45_000;

interface Order {
  readonly file: File;
  /** Where uploads are made; not needed by one that has an `address`. */
  readonly endpoint: string;
  /** Of an upload that was begun before. */
  readonly address: string | undefined;
  /** The header's value, asked before each request. */
  readonly authorization: () => string;
  readonly onAddress: (address: string) => void;
  /** Bytes that left the browser; those of a broken request are sent again. */
  readonly onSent: (bytes: number) => void;
  /** Bytes that the service has. */
  readonly onStored: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Brings a file by tus 1.0, from where the service has it on. Rejects with an `ApiFailure` for
 * whatever ends it, of status 0 where no answer came, and with the signal's reason. Tries nothing
 * again by itself.
 */
export function transfer(order: Order): Promise<void> {
  const { file, endpoint, address, signal } = order;
  return new Promise<void>((resolve, reject) => {
    let stalled: ReturnType<typeof setTimeout> | undefined;
    const end = (settle: () => void) => {
      clearTimeout(stalled);
      signal.removeEventListener("abort", abort);
      settle();
    };
    const giveUp = (reason: unknown) => {
      void upload.abort().catch(() => undefined);
      end(() => reject(reason));
    };
    const abort = () => giveUp(signal.reason);
    const moves = () => {
      clearTimeout(stalled);
      stalled = setTimeout(() => giveUp(new ApiFailure(0, "", "Nothing moves.")), STALLED_MS);
    };
    const upload = new Upload(file, {
      ...(address === undefined ? { endpoint } : { uploadUrl: address }),
      chunkSize: FIRST_PIECE,
      retryDelays: null,
      storeFingerprintForResuming: false,
      metadata: { filename: file.name, filetype: file.type || "application/octet-stream" },
      onBeforeRequest: (request) => {
        moves();
        request.setHeader("Authorization", order.authorization());
      },
      onUploadUrlAvailable: () => {
        if (upload.url !== null && upload.url !== address) order.onAddress(upload.url);
      },
      onProgress: (sent) => {
        moves();
        order.onSent(sent);
      },
      onChunkComplete: (_, stored) => {
        upload.options.chunkSize = PIECE;
        order.onStored(stored);
      },
      onSuccess: () => end(resolve),
      onError: (error) => end(() => reject(failureOf(error))),
    });
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);
    moves();
    upload.start();
  });
}

function failureOf(error: Error | DetailedError): Error {
  if (!(error instanceof DetailedError)) return error;
  const answer: HttpResponse | null = error.originalResponse;
  if (answer === null)
    return error.causingError instanceof ApiFailure ? error.causingError : gone();
  const code = answer.getHeader("X-Error-Code") ?? "";
  return new ApiFailure(answer.getStatus(), code, saidIn(answer));
}

function gone(): ApiFailure {
  return new ApiFailure(0, "", "The service does not answer. Is it running, and are you online?");
}

function saidIn(answer: HttpResponse): string {
  try {
    const body: unknown = JSON.parse(answer.getBody());
    if (typeof body === "object" && body !== null && "message" in body) return String(body.message);
  } catch {
    // What is in between answers in another form.
  }
  return `The service answered with ${answer.getStatus()}.`;
}
