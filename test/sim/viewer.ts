import { toAppError } from "../../src/base/errors.ts";
import type { EncodedFrame } from "../../src/live/frames.ts";
import { Subscriber } from "../../src/live/subscriber.ts";
import type { ServerFrame } from "../../src/wire/live-frames.ts";
import type { SimHost } from "./host.ts";
import type { Scene } from "./scene.ts";
import { TakenOut } from "./taken-out.ts";

/** By then every host knows what was taken out, milliseconds. */
const TOLD_MS = 30_000;

/** Somebody who follows a session, drops now and then, and goes on where he was. */
export class Viewer {
  readonly sessionId: string;
  readonly #world: Scene;
  readonly #name: string;
  readonly #takenOut = new TakenOut();
  /** The newest event that he had; undefined until a snapshot said where he begins. */
  position: number | undefined;
  isEnded = false;
  #host: SimHost | undefined;
  #subscriber: Subscriber | undefined;
  #generation = 0;

  constructor(world: Scene, sessionId: string, name: string, fromStart: boolean) {
    this.#world = world;
    this.sessionId = sessionId;
    this.#name = name;
    this.position = fromStart ? 0 : undefined;
  }

  /** Looks after his connection, as a client does. */
  watch(): void {
    const { kernel } = this.#world;
    if (this.#host?.machine.isDead) this.#forget();
    if (this.#host === undefined && !this.isEnded) this.#connect();
    kernel.plan(1_000 + kernel.random.next() * 1_000, () => this.watch());
  }

  /** His connection breaks. */
  drop(): void {
    const host = this.#host;
    const subscriber = this.#subscriber;
    this.#forget();
    host?.machine.enter(() => {
      subscriber?.stop();
      host.feeds.release(this.sessionId);
    });
  }

  #forget(): void {
    this.#generation += 1;
    this.#host = undefined;
    this.#subscriber = undefined;
  }

  #connect(): void {
    const { kernel, hosts } = this.#world;
    const up = hosts.filter(({ isUp }) => isUp);
    if (up.length === 0) return;
    // The front asks the record for his rights first.
    if (this.#world.erased.has(this.sessionId)) this.isEnded = true;
    if (this.isEnded) return;
    const host = kernel.random.pick(up);
    this.#host = host;
    this.#takenOut.know(this.#world.redactions.of(this.sessionId, TOLD_MS));
    this.#generation += 1;
    const generation = this.#generation;
    host.machine.enter(() => {
      const feed = host.feeds.acquire(this.sessionId);
      const subscriber = new Subscriber(feed, {
        send: (frames) => {
          if (this.#generation !== generation) return false;
          this.#see(frames);
          return true;
        },
        roomForPage: async () => this.#generation === generation,
      });
      this.#subscriber = subscriber;
      const from = this.position === undefined ? undefined : { seq: this.position };
      subscriber.start(from).catch((error: unknown) => {
        if (this.#generation !== generation) return;
        const { code } = toAppError(error);
        if (code === "internal") kernel.fail(error as Error);
        if (code === "not_found" && this.#world.isDeleted(this.sessionId)) this.isEnded = true;
        this.drop();
      });
    });
  }

  #see(frames: readonly EncodedFrame[]): void {
    for (const encoded of frames) {
      const { frame } = encoded as EncodedFrame & { frame: ServerFrame };
      const words = this.#takenOut.see(frame);
      if (words !== undefined) this.#fail(`was shown what was taken out: ${words}`);
      if (frame.type === "Snapshot") {
        if (this.position !== undefined && frame.seq < this.position) {
          this.#fail(`was sent back from ${this.position} to ${frame.seq}`);
        }
        this.position = frame.seq;
      } else if (frame.type === "Results" && !frame.is_final) {
        this.#world.count("interim results seen");
      } else if (encoded.seq !== undefined) {
        if (encoded.seq !== (this.position ?? 0) + 1) {
          this.#fail(`got event ${encoded.seq} after ${this.position}`);
        }
        this.position = encoded.seq;
      }
    }
  }

  #fail(what: string): void {
    this.#world.fail(this.sessionId, `viewer ${this.#name} ${what}`);
  }
}
