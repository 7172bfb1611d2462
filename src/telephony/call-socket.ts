import type { Authenticator } from "../access/authenticator.ts";
import type { Principal } from "../access/principal.ts";
import { askAgain, type RightHolder } from "../access/rights-watch.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import { recheckSession } from "../conversations/sessions/access.ts";
import { deviceCloseCode } from "../http/sockets/device-answers.ts";
import type { LiveLimits } from "../http/sockets/live-limits.ts";
import type { UwsConnection } from "../http/sockets/uws-connection.ts";
import { CLOSE, type CloseCode } from "../wire/close-codes.ts";
import { PhoneCall, type PhoneCallPorts } from "./phone-call.ts";

interface CallSocketOptions {
  calls: PhoneCallPorts;
  limits: LiveLimits;
  authenticator: Pick<Authenticator, "revalidate">;
  runtime: Runtime;
}

interface CallSocketParts {
  connection: Pick<UwsConnection<unknown>, "close">;
  /** Called once the ticket was found good; what it throws ends the call. */
  onAdmitted(admitted: AdmittedCall): void;
}

/** The socket of one telephone call. */
export class CallSocket {
  readonly #options: CallSocketOptions;
  readonly #connection: CallSocketParts["connection"];
  readonly #call: PhoneCall;

  constructor(options: CallSocketOptions, { connection, onAdmitted }: CallSocketParts) {
    this.#options = options;
    this.#connection = connection;
    this.#call = new PhoneCall(options.calls, {
      admitted: (caller, sessionId) =>
        onAdmitted(new AdmittedCall(this, { caller, sessionId, ...options })),
      ended: (error) => {
        if (error === undefined) return connection.close(CLOSE.done, "");
        connection.close(deviceCloseCode(error), `${error.code}: ${error.message}`);
      },
    });
  }

  /** True until a ticket came. */
  get isWaiting(): boolean {
    return this.#call.isWaiting;
  }

  /** Takes a message. Returns whether it was sound. */
  message(bytes: Buffer, isBinary: boolean): boolean {
    const { frameBytes } = this.#options.limits;
    if (bytes.byteLength > frameBytes) this.close(CLOSE.tooLarge, "The message is too large.");
    else if (isBinary) this.fail(new AppError("bad_request", "Messages of a call are text."));
    else return this.#call.take(bytes);
    return false;
  }

  fail(error: AppError): void {
    this.#call.fail(error);
  }

  close(code: CloseCode, reason: string): void {
    this.#call.closed();
    this.#connection.close(code, reason);
  }

  /** The connection was lost. */
  closed(): void {
    this.#call.closed();
  }
}

interface AdmittedCallParts
  extends Pick<CallSocketOptions, "authenticator" | "limits" | "runtime"> {
  calls: Pick<PhoneCallPorts, "directory">;
  caller: Principal;
  sessionId: string;
}

/** A call whose ticket was good: it goes on only while whoever made the ticket has the right to it. */
export class AdmittedCall implements RightHolder {
  readonly #socket: CallSocket;
  readonly #parts: AdmittedCallParts;
  readonly sessionId: string;
  #caller: Principal;

  constructor(socket: CallSocket, parts: AdmittedCallParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#caller = parts.caller;
    this.sessionId = parts.sessionId;
  }

  get principal(): Principal {
    return this.#caller;
  }

  get rightUntil(): number {
    return this.#caller.expiresAt;
  }

  follows(sessionId: string): boolean {
    return this.sessionId === sessionId;
  }

  async recheck(): Promise<boolean> {
    const { runtime } = this.#parts;
    return askAgain(
      () => this.#check(),
      () => this.rightUntil > runtime.now(),
      (error) => this.#socket.fail(error),
    );
  }

  async #check(): Promise<void> {
    const { authenticator, limits, runtime, calls } = this.#parts;
    const check = async () => {
      const current = await authenticator.revalidate(this.#caller);
      await recheckSession(calls.directory, current, this.sessionId, "session.upload");
      this.#caller = current;
    };
    await withTimeout(check(), limits.readTimeoutMs, "Checking your rights", runtime);
  }

  close(code: CloseCode, reason: string): void {
    this.#socket.close(code, reason);
  }

  closed(): void {
    this.#socket.closed();
  }
}
