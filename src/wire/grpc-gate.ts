import {
  type Metadata,
  type Responder,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerListener,
} from "@grpc/grpc-js";
import { AppError, toAppError } from "../base/errors.ts";
import type { Connection, GrpcConnections } from "./grpc-connections.ts";
import { toGrpcFailure } from "./grpc-status.ts";

/** What is known of a call before any message of it is read. */
export interface CallHead {
  path: string;
  metadata: Metadata;
  /** The caller's address; of IPv6 its /64 network. */
  network: string;
  /** The alternative names in the caller's certificate, when he showed one. */
  certificateNames: string | undefined;
}

/**
 * Decides on a call by its head: `known` for a caller who proved who he is, `open` for a method
 * that needs no proof. Rejects with the AppError that the call ends with.
 */
type JudgeCall = (head: CallHead) => Promise<"known" | "open">;

interface GateOptions {
  judge: JudgeCall;
  connections: Pick<GrpcConnections, "of">;
  /**
   * Time in which the first message of a call must have come as a whole, of a unary call its only
   * one and its end; milliseconds.
   */
  messageMs: number;
  /** Longest time of a call whose method is not in `own`, milliseconds. */
  callMs: number;
  /** Paths of the methods that see to the end of their calls themselves. */
  own: ReadonlySet<string>;
}

/** Open calls without a key over one connection: health checks ask one at a time. */
const MAX_OPEN_CALLS = 4;

/**
 * Judges each call by its metadata before one of its messages is read, whatever its method, and
 * ends calls whose first message stays out, or that last longer than anybody needs them.
 */
export function gateOf(options: GateOptions): ServerInterceptor {
  const openCalls = new WeakMap<Connection, number>();
  const count = (connection: Connection, change: number): number => {
    const open = (openCalls.get(connection) ?? 0) + change;
    openCalls.set(connection, open);
    return open;
  };
  return ({ path, requestStream }, call) => {
    const connection = options.connections.of(call.getConnectionInfo());
    let isOver = false;
    let onEnd = (): void => {};
    const firstMessage = new Timer(call, options.messageMs, MESSAGE_LATE);
    const wholeCall = new Timer(call, options.callMs, CALL_LONG);
    const writing = endWritingWithStatus(call);
    const admit = async (metadata: Metadata): Promise<void> => {
      if (connection === undefined) throw gone();
      const { network } = connection;
      const certificateNames = call.getAuthContext().sslPeerCertificate?.subjectaltname;
      const verdict = await options.judge({ path, metadata, network, certificateNames });
      if (verdict === "known") return connection.know();
      if (isOver) return;
      if (count(connection, 1) > MAX_OPEN_CALLS) {
        count(connection, -1);
        throw new AppError("rate_limited", "Too many calls without a key at once.");
      }
      onEnd = () => count(connection, -1);
      connection.touch();
    };
    const listener: ServerListener = {
      onReceiveMetadata(metadata, proceed) {
        admit(metadata).then(
          () => {
            firstMessage.start();
            if (!options.own.has(path)) wholeCall.start();
            proceed(metadata);
          },
          (error: unknown) => {
            call.sendStatus(toGrpcFailure(toAppError(error)));
            connection?.refuse();
          },
        );
      },
      onReceiveMessage(message, proceed) {
        if (requestStream) firstMessage.stop();
        proceed(message);
      },
      onReceiveHalfClose(proceed) {
        firstMessage.stop();
        proceed();
      },
      onCancel() {
        isOver = true;
        firstMessage.stop();
        wholeCall.stop();
        onEnd();
      },
    };
    return new ServerInterceptingCall(call, { start: (next) => next(listener), ...writing });
  };
}

/**
 * Lets no message out after the call's status. grpc-js itself ends a call of which a message cannot
 * be decoded, while the answers to earlier ones are still being made; a write after the end would
 * keep the HTTP/2 stream open, as Node never finishes a stream with an error.
 */
function endWritingWithStatus(
  call: ServerInterceptingCallInterface,
): Pick<Responder, "sendMessage"> {
  const sendStatus = call.sendStatus.bind(call);
  let hasStatus = false;
  call.sendStatus = (status) => {
    hasStatus = true;
    sendStatus(status);
  };
  return {
    sendMessage: (message, next) => {
      if (!hasStatus) next(message);
    },
  };
}

const MESSAGE_LATE = (ms: number) => `The message did not come within ${ms / 1_000} s.`;
const CALL_LONG = (ms: number) => `A call of this method may last ${ms / 1_000} s. Call it again.`;

/** Ends a call with `timeout` after a time. */
class Timer {
  readonly #call: ServerInterceptingCallInterface;
  readonly #ms: number;
  readonly #message: (ms: number) => string;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(call: ServerInterceptingCallInterface, ms: number, message: (ms: number) => string) {
    this.#call = call;
    this.#ms = ms;
    this.#message = message;
  }

  start(): void {
    if (this.#isOver) return;
    const late = new AppError("timeout", this.#message(this.#ms));
    this.#timer = setTimeout(() => this.#call.sendStatus(toGrpcFailure(late)), this.#ms);
    this.#timer.unref();
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}

function gone(): AppError {
  return new AppError("unavailable", "The connection has ended.");
}
