import { signal } from "@preact/signals";
import { openWithTicket } from "../../client/browser-socket.ts";
import { ApiError, ChannelError } from "../../client/errors.ts";
import { Follower } from "../../client/follow.ts";
import type { ServerFrame } from "../../client/frames.ts";
import { CLOSE } from "../../wire/close-codes.ts";
import { api, messageOf, signedIn } from "./client.ts";

/** How the connection does: `refused` and `closed` are final. */
type LinkState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "waiting"; readonly reason: string; readonly until: number }
  | { readonly kind: "refused"; readonly reason: string; readonly code: string }
  | { readonly kind: "closed" };

/** A view that is open is never given up. */
const BACK_OFF = { attempts: Number.POSITIVE_INFINITY, firstMs: 250, longestMs: 10_000 };

const REFUSALS: Readonly<Record<number, string>> = {
  [CLOSE.protocol]: "This page and the service do not understand each other. Reload the page.",
  [CLOSE.forbidden]: "You may not follow this session.",
  [CLOSE.unknownSession]: "There is no such session.",
};

/**
 * Follows one session over the live channel, for as long as its view is open. After a break it goes
 * on behind the newest durable event, so that each comes once and in order, and nothing is drawn anew.
 */
export class LiveChannel {
  readonly state = signal<LinkState>({ kind: "connecting" });
  readonly #follower: Follower;
  readonly #onFrames: (frames: readonly ServerFrame[]) => void;
  readonly #stop = new AbortController();
  #hurry: (() => void) | undefined;

  constructor(sessionId: string, onFrames: (frames: readonly ServerFrame[]) => void) {
    this.#onFrames = onFrames;
    this.#follower = new Follower(openWithTicket(api), signedIn, {
      sessionId,
      backOff: BACK_OFF,
      signal: this.#stop.signal,
      pause: (ms) => this.#pause(ms),
      onReconnect: (reason, waitMs) => {
        this.state.value = { kind: "waiting", reason, until: Date.now() + waitMs };
      },
    });
  }

  start(): void {
    const online = () => this.#hurry?.();
    addEventListener("online", online, { signal: this.#stop.signal });
    void this.#run();
  }

  stop(): void {
    this.#stop.abort();
    this.#hurry?.();
    this.state.value = { kind: "closed" };
  }

  /** Connects now instead of waiting longer. */
  retry(): void {
    this.#hurry?.();
  }

  async #run(): Promise<void> {
    try {
      for await (const frames of this.#follower.together()) {
        if (this.state.value.kind !== "live") this.state.value = { kind: "live" };
        this.#onFrames(frames);
      }
    } catch (error) {
      // Who signed out instead of signing in again has left.
      const refusal = this.#stop.signal.aborted ? undefined : refusalOf(error);
      if (refusal !== undefined) this.state.value = { kind: "refused", ...refusal };
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
}

function refusalOf(error: unknown): { reason: string; code: string } | undefined {
  if (error instanceof ApiError) return { reason: messageOf(error), code: error.code };
  if (!(error instanceof ChannelError)) return undefined;
  const { closeCode, code, message, said } = error;
  const reason = said || REFUSALS[closeCode ?? 0] || message;
  return { reason, code: closeCode === undefined ? code : String(closeCode) };
}
