import { signal } from "@preact/signals";
import { Position } from "../../client/live-position.ts";
import type { CLOSE as WIRE_CLOSE } from "../../wire/close-codes.ts";
import type { ServerFrame } from "../../wire/live-frames.ts";
import type { ViewerFrame } from "../../wire/viewer-frames.ts";
import { signInAgain } from "./account.ts";
import { API_BASE, ApiFailure, call, messageOf } from "./client.ts";

/** Those of the live channel that this viewer knows; the schemas beside them stay outside the page. */
const CLOSE: Pick<
  typeof WIRE_CLOSE,
  "done" | "protocol" | "auth" | "forbidden" | "unknownSession"
> = { done: 1000, protocol: 4400, auth: 4401, forbidden: 4403, unknownSession: 4404 };

/** How the connection does: `refused` and `closed` are final. */
type LinkState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "waiting"; readonly reason: string; readonly until: number }
  | { readonly kind: "refused"; readonly reason: string; readonly code: string }
  | { readonly kind: "closed" };

/** Time without a message after which the connection counts as dead; heartbeats come more often. */
const SILENCE_MS = 45_000;
const KEEP_ALIVE_MS = 20_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

type Ending =
  | { readonly kind: "again"; readonly reason: string }
  | { readonly kind: "sign-in" }
  | { readonly kind: "refused"; readonly reason: string; readonly code: string }
  | { readonly kind: "closed" };

/**
 * Follows one session over the live channel, for as long as its view is open. After a break it goes
 * on behind the newest durable event, so that each comes once and in order, and nothing is drawn anew.
 */
export class LiveChannel {
  readonly state = signal<LinkState>({ kind: "connecting" });
  readonly #sessionId: string;
  readonly #onFrames: (frames: readonly ServerFrame[]) => void;
  readonly #position = new Position();
  readonly #stop = new AbortController();
  #fruitless = 0;
  #socket: WebSocket | undefined;
  #hurry: (() => void) | undefined;

  constructor(sessionId: string, onFrames: (frames: readonly ServerFrame[]) => void) {
    this.#sessionId = sessionId;
    this.#onFrames = onFrames;
  }

  start(): void {
    const online = () => this.#hurry?.();
    addEventListener("online", online, { signal: this.#stop.signal });
    void this.#run();
  }

  stop(): void {
    this.#stop.abort();
    this.#socket?.close(CLOSE.done);
    this.#hurry?.();
    this.state.value = { kind: "closed" };
  }

  /** Connects now instead of waiting longer. */
  retry(): void {
    this.#hurry?.();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const ending = await this.#connectOnce();
      if (ending.kind === "closed" || this.#stop.signal.aborted) return;
      if (ending.kind === "refused") {
        this.state.value = ending;
        return;
      }
      if (ending.kind === "sign-in") {
        const isBack = await signInAgain().then(
          () => true,
          () => false,
        );
        if (!isBack) return;
        continue;
      }
      this.#fruitless += 1;
      const ceiling = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#fruitless - 1));
      const waitMs = ceiling / 2 + Math.random() * (ceiling / 2);
      this.state.value = {
        kind: "waiting",
        reason: ending.reason,
        until: Date.now() + waitMs,
      };
      await this.#pause(waitMs);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #connectOnce(): Promise<Ending> {
    let ticket: string;
    try {
      ({ ticket } = await call((api) => api.POST("/auth/live-ticket")));
    } catch (error) {
      if (this.#stop.signal.aborted) return { kind: "closed" };
      const isLasting =
        error instanceof ApiFailure && error.status >= 400 && ![408, 429].includes(error.status);
      if (isLasting && error.status < 500) {
        return { kind: "refused", reason: error.message, code: error.code };
      }
      return { kind: "again", reason: messageOf(error) };
    }
    if (this.#stop.signal.aborted) return { kind: "closed" };
    return this.#follow(ticket);
  }

  #follow(ticket: string): Promise<Ending> {
    const address = `${API_BASE.replace(/^http/, "ws")}/live?ticket=${encodeURIComponent(ticket)}`;
    const socket = new WebSocket(address);
    this.#socket = socket;
    this.#position.connected();
    return new Promise((resolve) => {
      const send = (frame: ViewerFrame) => socket.send(JSON.stringify(frame));
      const finish = (ending: Ending) => {
        clearTimeout(silence);
        clearInterval(keepAlive);
        socket.onmessage = null;
        socket.onclose = null;
        socket.close(CLOSE.done);
        resolve(ending);
      };
      const fallSilent = () => finish({ kind: "again", reason: "The connection fell silent." });
      let silence = setTimeout(fallSilent, SILENCE_MS);
      const keepAlive = setInterval(() => {
        if (socket.readyState === WebSocket.OPEN) send({ type: "KeepAlive" });
      }, KEEP_ALIVE_MS);
      socket.onopen = () => {
        send({ type: "Subscribe", session_id: this.#sessionId, ...this.#position.from });
      };
      socket.onmessage = ({ data }) => {
        clearTimeout(silence);
        silence = setTimeout(fallSilent, SILENCE_MS);
        const ending = this.#hear(String(data));
        if (ending !== undefined) finish(ending);
      };
      socket.onclose = ({ code, reason }) => finish(endingOf(code, reason));
    });
  }

  #hear(text: string): Ending | undefined {
    const fresh: ServerFrame[] = [];
    let ending: Ending | undefined;
    for (const frame of framesOf(text)) {
      if (frame.type === "Error" && !frame.retryable) {
        ending = { kind: "refused", reason: frame.message, code: frame.code };
        break;
      }
      const place = this.#position.take(frame);
      if (place === "seen") continue;
      if (place === "gap") {
        ending = { kind: "again", reason: "An event is missing." };
        break;
      }
      fresh.push(frame);
    }
    if (fresh.length > 0) {
      this.#fruitless = 0;
      if (this.state.value.kind !== "live") this.state.value = { kind: "live" };
      this.#onFrames(fresh);
    }
    return ending;
  }
}

function framesOf(text: string): ServerFrame[] {
  try {
    const content: unknown = JSON.parse(text);
    return (Array.isArray(content) ? content : [content]) as ServerFrame[];
  } catch {
    return [];
  }
}

const REFUSALS: Readonly<Record<number, string>> = {
  [CLOSE.protocol]: "This page and the service do not understand each other. Reload the page.",
  [CLOSE.forbidden]: "You may not follow this session.",
  [CLOSE.unknownSession]: "There is no such session.",
};

function endingOf(code: number, said: string): Ending {
  if (code === CLOSE.auth) return { kind: "sign-in" };
  const refusal = REFUSALS[code];
  if (refusal !== undefined)
    return { kind: "refused", reason: said || refusal, code: String(code) };
  return { kind: "again", reason: said || "The connection broke." };
}
