import { type Authenticator, endsCaller } from "../access/authenticator.ts";
import type { ServicePrincipal } from "../access/principal.ts";
import type { RightHolder } from "../access/rights-watch.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError, toAppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { LiveLimits } from "../http/sockets/live-limits.ts";
import type { UwsConnection } from "../http/sockets/uws-connection.ts";
import { CLOSE, type CloseCode } from "../wire/close-codes.ts";
import type { DeepgramOrder } from "./deepgram-query.ts";
import { LIVE_CLOSE, LiveCall, type LiveCallPorts } from "./live-call.ts";

const AUDIO_FRAME_BYTES = 1024 * 1024;

interface CompatSocketOptions {
  calls: LiveCallPorts;
  limits: LiveLimits;
  authenticator: Pick<Authenticator, "revalidate">;
  runtime: Runtime;
}

/** What close codes of this service's own sockets are to clients of Deepgram. */
const CODES: Partial<Record<CloseCode, number>> = {
  [CLOSE.goingAway]: LIVE_CLOSE.goingAway,
  [CLOSE.idle]: LIVE_CLOSE.failed,
  [CLOSE.tooSlow]: LIVE_CLOSE.failed,
};

/** The socket of one live call. */
export class CompatSocket implements RightHolder {
  readonly #options: CompatSocketOptions;
  readonly #connection: Pick<UwsConnection<unknown>, "send" | "close" | "bufferedBytes">;
  readonly #call: LiveCall;
  #caller: ServicePrincipal;

  constructor(
    options: CompatSocketOptions,
    connection: Pick<UwsConnection<unknown>, "send" | "close" | "bufferedBytes">,
    { caller, order }: { caller: ServicePrincipal; order: DeepgramOrder },
  ) {
    this.#options = options;
    this.#connection = connection;
    this.#caller = caller;
    const line = {
      send: (message: object) => this.#send(message),
      close: (code: number, reason: string) => connection.close(code, reason),
    };
    this.#call = new LiveCall(options.calls, { caller, order, line });
  }

  get principal(): ServicePrincipal {
    return this.#caller;
  }

  get rightUntil(): number {
    return this.#caller.expiresAt;
  }

  get sessionId(): string | undefined {
    return this.#call.sessionId;
  }

  follows(sessionId: string): boolean {
    return this.sessionId === sessionId;
  }

  /** Takes a message of the client. */
  message(bytes: Buffer, isBinary: boolean): void {
    const most = isBinary ? AUDIO_FRAME_BYTES : this.#options.limits.frameBytes;
    if (bytes.byteLength > most) return this.close(CLOSE.tooLarge, "The message is too large.");
    if (isBinary) return this.#call.hear(bytes);
    switch (typeOf(bytes)) {
      case "KeepAlive":
        return;
      case "Finalize":
        return this.#call.finalize();
      case "CloseStream":
        return this.#call.finish();
      default: {
        const message = "A text message is one of KeepAlive, Finalize and CloseStream.";
        return this.#call.fail(new AppError("bad_request", message));
      }
    }
  }

  #send(message: object): void {
    const { bufferedBytes } = this.#options.limits;
    const hasRoom = this.#connection.bufferedBytes() <= bufferedBytes;
    const bytes = Buffer.from(JSON.stringify(message));
    if (hasRoom && this.#connection.send([{ bytes }])) return;
    this.close(CLOSE.tooSlow, "You do not read what you are told.");
  }

  /** Authenticates the caller again; true when the check was answered. */
  async recheck(): Promise<boolean> {
    const { authenticator, limits, runtime } = this.#options;
    try {
      const valid = authenticator.revalidate(this.#caller);
      const current = await withTimeout(
        valid,
        limits.readTimeoutMs,
        "Checking who you are",
        runtime,
      );
      if (current.kind === "service") this.#caller = current;
      if (this.#caller.scopes.includes("transcribe")) return true;
      throw new AppError("unauthorized", "This key lacks the scope transcribe.");
    } catch (error) {
      const failure = toAppError(error);
      if (endsCaller(failure)) this.close(CLOSE.auth, failure.message);
      return endsCaller(failure);
    }
  }

  close(code: CloseCode, reason: string): void {
    this.#call.shut(CODES[code] ?? LIVE_CLOSE.refused, reason);
  }

  /** The connection was lost. */
  closed(): void {
    this.#call.closed();
  }
}

/** The `type` of a text message; undefined when it has none. */
function typeOf(bytes: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  } catch {
    return undefined;
  }
}
