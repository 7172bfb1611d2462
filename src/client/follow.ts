import { CLOSE } from "../wire/close-codes.ts";
import type { Caller } from "./access.ts";
import { type BackOff, waitBefore } from "./back-off.ts";
import { delay } from "./delay.ts";
import { ApiError, ChannelError, type ErrorCode, VoiceError } from "./errors.ts";
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
  /** Waits before a connection, in place of the clock: who has news of the network waits shorter. */
  readonly pause?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
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

const FINAL: Readonly<Record<number, { code: ErrorCode; message: string }>> = {
  [CLOSE.protocol]: {
    code: "bad_request",
    message: "the live channel did not understand this client",
  },
  [CLOSE.forbidden]: { code: "forbidden", message: "you may not follow this session" },
  [CLOSE.unknownSession]: { code: "not_found", message: "there is no such session" },
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
  readonly #access: Pick<Caller, "renew">;
  readonly #options: FollowOptions;
  readonly #backOff: BackOff;
  readonly #position: Position;
  #cursor: Cursor | undefined;
  #fruitless = 0;
  #renewals = 0;

  constructor(open: OpenSocket, access: Pick<Caller, "renew">, options: FollowOptions) {
    this.#open = open;
    this.#access = access;
    this.#options = options;
    this.#backOff = options.backOff ?? RECONNECT;
    this.#cursor = options.cursor;
    this.#position = new Position(options.cursor?.seq, options.cursor?.at);
  }

  /** Behind the newest frame that was given; undefined before the first. */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ServerFrame, never> {
    for await (const frames of this.#all()) {
      for (const frame of frames) {
        this.#give(frame);
        yield frame;
      }
    }
    throw new Error("A follower has no end of its own.");
  }

  /** The same frames, each time those that came together, for who draws them at once. */
  async *together(): AsyncGenerator<readonly ServerFrame[], never> {
    for await (const frames of this.#all()) {
      for (const frame of frames) this.#give(frame);
      yield frames;
    }
    throw new Error("A follower has no end of its own.");
  }

  #give(frame: ServerFrame): void {
    const at = frame.type === "Snapshot" ? frame.seq_at : "at" in frame ? frame.at : undefined;
    if (frame.type !== "Snapshot" && at === undefined) return;
    const { seq } = frame as { seq: number };
    this.#cursor = { seq, ...(at !== undefined && { at }) };
  }

  async *#all(): AsyncGenerator<readonly ServerFrame[], never> {
    const { signal, onReconnect, pause = delay } = this.#options;
    for (;;) {
      const reason = yield* this.#connection();
      if (++this.#fruitless >= this.#backOff.attempts) {
        const message = `the live channel stays away: ${reason}`;
        throw new ChannelError("unreachable", message, { isRetryable: true });
      }
      const wait = waitBefore(this.#fruitless, this.#backOff);
      onReconnect?.(reason, wait);
      await pause(wait, signal);
    }
  }

  /** The frames of one connection; returns why it ended, throws when it is for good. */
  async *#connection(): AsyncGenerator<readonly ServerFrame[], string> {
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
        const frames = await socket.next<ServerFrame>(SILENCE_MS, signal);
        if (frames === undefined) return "it fell silent";
        const { fresh, ending } = this.#take(frames);
        if (fresh.length > 0) {
          [this.#fruitless, this.#renewals] = [0, 0];
          yield fresh;
        }
        if (typeof ending === "string") return ending;
        if (ending !== undefined) throw ending;
      }
    } catch (error) {
      return await this.#passing(error);
    } finally {
      clearInterval(alive);
      socket?.close();
    }
  }

  /** What of a message is news, and why the connection is over behind that. */
  #take(frames: readonly ServerFrame[]): { fresh: ServerFrame[]; ending?: ChannelError | string } {
    const fresh: ServerFrame[] = [];
    for (const frame of frames) {
      if (frame.type === "Error" && !frame.retryable) {
        const { code, message: said } = frame;
        return {
          fresh,
          ending: new ChannelError(code, `the live channel says: ${said}`, { said }),
        };
      }
      const place = this.#position.take(frame);
      if (place === "gap") return { fresh, ending: "an event is missing" };
      if (place === "next") fresh.push(frame);
    }
    return { fresh };
  }

  /** What to say of a failure that may pass; others are thrown. */
  async #passing(error: unknown): Promise<string> {
    if (error instanceof SocketClosed) {
      const { code: closeCode, message, said } = error;
      if (closeCode === CLOSE.auth) return this.#renewed(message, closeCode);
      const final = FINAL[closeCode];
      if (final === undefined) return message;
      throw new ChannelError(final.code, said || final.message, { closeCode, said });
    }
    if (error instanceof ApiError && error.status === 401) return this.#renewed(error.message);
    if (error instanceof VoiceError && error.isRetryable) return error.message;
    throw error;
  }

  async #renewed(reason: string, closeCode?: number): Promise<string> {
    if (++this.#renewals <= MOST_RENEWALS && (await this.#access.renew())) return reason;
    throw new ChannelError("unauthorized", reason, { closeCode });
  }
}
