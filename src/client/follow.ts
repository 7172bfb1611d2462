import { CLOSE } from "../wire/close-codes.ts";
import type { Access } from "./access.ts";
import { type BackOff, waitBefore } from "./back-off.ts";
import { delay } from "./delay.ts";
import { ApiError, ChannelError, VoiceError } from "./errors.ts";
import { type FrameSocket, type OpenSocket, SocketClosed } from "./frame-socket.ts";
import type { ServerFrame, ViewerFrame } from "./frames.ts";
import { Position } from "./live-position.ts";

/** Where a follower is: kept anywhere as JSON, it goes on there, in another process too. */
export interface Cursor {
  /** Number of the newest durable event that was taken. */
  readonly seq: number;
  /** When that event was: tells a session that was restored from a backup from what it was. */
  readonly at?: string | undefined;
}

export interface FollowOptions {
  readonly sessionId: string;
  /** Of an earlier follower; `{ seq: 0 }` for all events. Without it a snapshot comes first. */
  readonly cursor?: Cursor | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The waits after consecutive connections that brought nothing. */
  readonly backOff?: BackOff | undefined;
  readonly onReconnect?: ((reason: string, waitMs: number) => void) | undefined;
}

export const RECONNECT: BackOff = { attempts: 15, firstMs: 200, longestMs: 5_000 };
export const HANDSHAKE_MS = 10_000;
/**
 * Time without a message after which the connection counts as dead, milliseconds; the service sends
 * heartbeats more often.
 */
export const SILENCE_MS = 45_000;
const KEEP_ALIVE_MS = 20_000;
/** Tokens that may be refused one after the other, each renewed, before it is given up. */
const MOST_RENEWALS = 2;

const FINAL: Readonly<Record<number, string>> = {
  [CLOSE.protocol]: "the live channel did not understand this client",
  [CLOSE.forbidden]: "you may not follow this session",
  [CLOSE.unknownSession]: "there is no such session",
};

/**
 * Follows one session over the live channel. After a break it connects again and goes on behind what
 * it has, so that every durable frame is given once, in order; interim results come as they are. It
 * gives up after 15 consecutive connections that brought nothing.
 *
 * It is an async iterable that ends only with `break` or its signal, whose reason it throws; other
 * failures are `VoiceError`s. `SessionEnded` says that nothing more is to be expected but
 * corrections.
 */
export class Follower implements AsyncIterable<ServerFrame> {
  readonly #open: OpenSocket;
  readonly #access: Access;
  readonly #options: FollowOptions;
  readonly #backOff: BackOff;
  readonly #position: Position;
  #fruitless = 0;
  #renewals = 0;

  constructor(open: OpenSocket, access: Access, options: FollowOptions) {
    this.#open = open;
    this.#access = access;
    this.#options = options;
    this.#backOff = options.backOff ?? RECONNECT;
    this.#position = new Position(options.cursor?.seq, options.cursor?.at);
  }

  /** Behind the newest frame that was given; undefined before the first. */
  get cursor(): Cursor | undefined {
    const { from_seq: seq, from_at: at } = this.#position.from;
    return seq === undefined ? undefined : { seq, ...(at !== undefined && { at }) };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ServerFrame, never> {
    const { signal, onReconnect } = this.#options;
    for (;;) {
      const reason = yield* this.#connection();
      if (++this.#fruitless >= this.#backOff.attempts) {
        throw new ChannelError("unreachable", `the live channel stays away: ${reason}`, true);
      }
      const wait = waitBefore(this.#fruitless, this.#backOff);
      onReconnect?.(reason, wait);
      await delay(wait, signal);
    }
  }

  /** The frames of one connection; returns why it ended, throws when it is for good. */
  async *#connection(): AsyncGenerator<ServerFrame, string> {
    const { sessionId, signal } = this.#options;
    signal?.throwIfAborted();
    this.#position.connected();
    let socket: FrameSocket | undefined;
    let alive: ReturnType<typeof setInterval> | undefined;
    try {
      socket = await this.#open("/live", { handshakeMs: HANDSHAKE_MS, signal });
      const send = (frame: ViewerFrame) => socket?.send(frame);
      send({ type: "Subscribe", session_id: sessionId, ...this.#position.from });
      alive = setInterval(() => send({ type: "KeepAlive" }), KEEP_ALIVE_MS);
      for (;;) {
        const frame = await socket.next<ServerFrame>(SILENCE_MS, signal);
        if (frame === undefined) return "it fell silent";
        if (frame.type === "Error" && !frame.retryable) {
          throw new ChannelError(frame.code, `the live channel says: ${frame.message}`);
        }
        const place = this.#position.take(frame);
        if (place === "gap") return "an event is missing";
        if (place === "seen") continue;
        [this.#fruitless, this.#renewals] = [0, 0];
        yield frame;
      }
    } catch (error) {
      return await this.#passing(error);
    } finally {
      clearInterval(alive);
      socket?.close();
    }
  }

  /** What to say of a failure that may pass; others are thrown. */
  async #passing(error: unknown): Promise<string> {
    if (error instanceof SocketClosed) {
      const reason = error.message;
      if (error.code === CLOSE.auth) return this.#renewed(reason, error.code);
      const final = FINAL[error.code];
      if (final === undefined) return reason;
      const code = error.code === CLOSE.unknownSession ? "not_found" : "forbidden";
      const isOurs = error.code === CLOSE.protocol;
      throw new ChannelError(isOurs ? "bad_request" : code, said(error, final), false, error.code);
    }
    if (error instanceof ApiError && error.status === 401) return this.#renewed(error.message);
    if (error instanceof VoiceError && error.isRetryable) return error.message;
    throw error;
  }

  async #renewed(reason: string, closeCode?: number): Promise<string> {
    if (++this.#renewals <= MOST_RENEWALS && (await this.#access.renew())) return reason;
    throw new ChannelError("unauthorized", reason, false, closeCode);
  }
}

/** The service's own words, where it said any. */
function said({ code, message }: SocketClosed, otherwise: string): string {
  return message === new SocketClosed(code, "").message ? otherwise : message;
}
