import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { CLOSE } from "../../wire/close-codes.ts";
import type { ServerFrame } from "../../wire/live-frames.ts";
import { Position } from "../../wire/live-position.ts";
import type { ViewerFrame } from "../../wire/viewer-frames.ts";
import { type BackOff, waitBefore } from "./back-off.ts";
import { CommandFailure } from "./command-context.ts";
import { EXIT } from "./exit-codes.ts";
import type { UserSession } from "./user-session.ts";

/**
 * Parses the frames of one WebSocket message: an object, or an array of several; anything else is
 * left out.
 */
export function parseFrames(text: string): ServerFrame[] {
  const content: unknown = parseJson(text);
  const items = Array.isArray(content) ? content : [content];
  return items.filter(isFrame);
}

/** Accepts unknown types too: a newer service may send frames that this client only passes on. */
function isFrame(value: unknown): value is ServerFrame {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ViewerOptions {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** Requests all durable events after this one; without it the view begins with a snapshot. */
  readonly fromSeq?: number;
  /** The waits after consecutive connections that brought nothing. */
  readonly backOff?: BackOff;
  /** Receives every frame once; durable ones in order of `seq`. Returning true ends the view. */
  readonly onFrame: (frame: ServerFrame) => boolean;
  readonly onReconnect?: (reason: string, waitMs: number) => void;
}

const RECONNECT: BackOff = { attempts: 15, firstMs: 200, longestMs: 5_000 };
const HANDSHAKE_MS = 10_000;
/**
 * Time without a message after which the connection counts as dead, milliseconds; the service sends
 * heartbeats more often.
 */
const SILENCE_MS = 45_000;
const KEEP_ALIVE_MS = 20_000;
const MOST_FRAME_BYTES = 32 * 1024 * 1024;

/** The reason why a connection ended. */
type Ending =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly reason: string }
  | { readonly kind: "renew"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string; readonly exitCode?: number };

/**
 * Follows one session over the live channel. After a break it reconnects with `from_seq`, so that
 * every durable frame is received once, in order. By default it gives up after 15 consecutive
 * connections that brought nothing.
 */
export class LiveViewer {
  readonly #user: UserSession;
  readonly #options: ViewerOptions;
  readonly #backOff: BackOff;
  readonly #position: Position;
  #fruitless = 0;
  #renewals = 0;

  constructor(user: UserSession, options: ViewerOptions) {
    this.#user = user;
    this.#options = options;
    this.#backOff = options.backOff ?? RECONNECT;
    this.#position = new Position(options.fromSeq);
  }

  /**
   * Resolves when `onFrame` returned true or the signal was aborted; throws after a permanent
   * failure.
   */
  async run(): Promise<void> {
    const { signal, onReconnect } = this.#options;
    while (!signal.aborted) {
      const ending = await this.#connectOnce();
      if (ending.kind === "done") return;
      if (ending.kind === "refused") {
        throw new CommandFailure(ending.reason, undefined, ending.exitCode);
      }
      if (ending.kind === "renew") {
        if (++this.#renewals > 2) throw new CommandFailure(ending.reason);
        await this.#user.renew();
      }
      if (++this.#fruitless >= this.#backOff.attempts) {
        throw new CommandFailure(
          `the live channel stays away: ${ending.reason}`,
          undefined,
          EXIT.unavailable,
        );
      }
      const wait = waitBefore(this.#fruitless, this.#backOff);
      onReconnect?.(ending.reason, wait);
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  #connectOnce(): Promise<Ending> {
    this.#position.connected();
    const { sessionId, signal } = this.#options;
    const socket = new WebSocket(liveUrl(this.#user.api.baseUrl), {
      headers: { Authorization: `Bearer ${this.#user.token}` },
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MOST_FRAME_BYTES,
    });
    return new Promise((resolve) => {
      const send = (frame: ViewerFrame) => socket.send(JSON.stringify(frame));
      const silence = setTimeout(() => finish(again("it fell silent")), SILENCE_MS);
      const keepAlive = setInterval(() => {
        if (socket.readyState === WebSocket.OPEN) send({ type: "KeepAlive" });
      }, KEEP_ALIVE_MS);
      const onAbort = () => finish({ kind: "done" });
      const finish = (ending: Ending) => {
        clearTimeout(silence);
        clearInterval(keepAlive);
        signal.removeEventListener("abort", onAbort);
        socket.removeAllListeners();
        // Errors after this point have no effect.
        socket.on("error", () => undefined);
        if (socket.readyState === WebSocket.OPEN) socket.close(CLOSE.done);
        else socket.terminate();
        resolve(ending);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      socket.on("open", () =>
        send({ type: "Subscribe", session_id: sessionId, ...this.#position.from }),
      );
      socket.on("message", (data) => {
        silence.refresh();
        const ending = this.#receive(data.toString());
        if (ending) finish(ending);
      });
      socket.on("unexpected-response", (_request, response) => {
        finish(endingOfStatus(response.statusCode ?? 0));
      });
      socket.on("error", (error) => finish(again(error.message)));
      socket.on("close", (code, reason) => finish(endingOfClose(code, reason.toString())));
    });
  }

  #receive(text: string): Ending | undefined {
    for (const frame of parseFrames(text)) {
      if (frame.type === "Error" && !frame.retryable) {
        return { kind: "refused", reason: `the live channel says: ${frame.message}` };
      }
      const position = this.#position.take(frame);
      if (position === "seen") continue;
      if (position === "gap") return again("an event is missing");
      this.#fruitless = 0;
      this.#renewals = 0;
      if (this.#options.onFrame(frame)) return { kind: "done" };
    }
    return undefined;
  }
}

function again(reason: string): Ending {
  return { kind: "again", reason };
}

function liveUrl(baseUrl: string): string {
  return `${baseUrl.replace(/^http/, "ws")}/live`;
}

function endingOfStatus(status: number): Ending {
  if (status === 401) return { kind: "renew", reason: "the live channel refused the login (401)" };
  if (status === 429 || status >= 500) return again(`the live channel answered ${status}`);
  return { kind: "refused", reason: `the live channel answered ${status}; is the address right?` };
}

const FINAL_CLOSES: Readonly<Record<number, string>> = {
  [CLOSE.protocol]: "the live channel did not understand this client",
  [CLOSE.forbidden]: "you may not follow this session",
  [CLOSE.unknownSession]: "there is no such session",
};

const FINAL_EXITS: Readonly<Record<number, number>> = {
  [CLOSE.forbidden]: EXIT.refused,
  [CLOSE.unknownSession]: EXIT.missing,
};

function endingOfClose(code: number, said: string): Ending {
  const reason = said || FINAL_CLOSES[code] || `the connection closed (${code})`;
  if (code === CLOSE.auth) return { kind: "renew", reason };
  if (!(code in FINAL_CLOSES)) return again(reason);
  return { kind: "refused", reason, exitCode: FINAL_EXITS[code] };
}
