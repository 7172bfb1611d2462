import type { Socket } from "node:net";

/** What a fault did: nothing of it is zero when the fault has bitten. */
export interface Bite {
  /** Connections that it touched, or turned away. */
  connections: number;
  /** Bytes held back, slowed down or swallowed. */
  bytes: number;
}

export type Direction = "up" | "down";

/** How one direction treats what comes in. */
export type Mode =
  | { readonly kind: "pass" }
  /** Nothing passes until the mode changes; then everything does, in order. */
  | { readonly kind: "hold"; readonly bite: Bite }
  | { readonly kind: "slow"; readonly bytesPerSecond: number; readonly bite: Bite }
  /** Taken and lost, as by a peer that is not there any more. */
  | { readonly kind: "swallow"; readonly bite: Bite };

const PASS: Mode = { kind: "pass" };
const TICK_MS = 20;
/** Bytes that a slowed direction takes in ahead; the rest waits in the kernel's buffers. */
const MOST_QUEUED = 64 * 1024;

/** One direction of a connection through the proxy. */
class Pipe {
  readonly #from: Socket;
  readonly #to: Socket;
  #mode: Mode = PASS;
  #queue: Buffer[] = [];
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket) {
    this.#from = from;
    this.#to = to;
    from.on("data", (chunk) => this.#take(chunk));
    from.on("end", () => {
      this.#hasEnded = true;
      this.#pump();
    });
    to.on("drain", () => this.#pump());
  }

  get isPassing(): boolean {
    return this.#mode.kind === "pass";
  }

  set(mode: Mode): void {
    this.#mode = mode;
    clearInterval(this.#timer);
    if (mode.kind === "slow") this.#timer = setInterval(() => this.#drip(), TICK_MS);
    if (mode.kind === "swallow") this.#from.resume();
    this.#pump();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Hands on what waits, however much it is. */
  flush(): void {
    for (const chunk of this.#queue.splice(0)) if (this.#to.writable) this.#to.write(chunk);
  }

  #take(chunk: Buffer): void {
    const mode = this.#mode;
    if (mode.kind !== "pass") mode.bite.bytes += chunk.length;
    if (mode.kind === "swallow") return;
    this.#queue.push(chunk);
    const queued = this.#queue.reduce((sum, each) => sum + each.length, 0);
    if (mode.kind === "hold" || queued > MOST_QUEUED) this.#from.pause();
    this.#pump();
  }

  #pump(): void {
    if (this.#mode.kind !== "pass" || !this.#to.writable) return;
    for (let chunk = this.#queue.shift(); chunk; chunk = this.#queue.shift()) {
      if (this.#to.write(chunk)) continue;
      this.#from.pause();
      return;
    }
    this.#from.resume();
    if (this.#hasEnded) this.#to.end();
  }

  #drip(): void {
    if (this.#mode.kind !== "slow" || !this.#to.writable) return;
    let allowance = Math.max(1, Math.round((this.#mode.bytesPerSecond * TICK_MS) / 1_000));
    while (allowance > 0) {
      const chunk = this.#queue.shift();
      if (chunk === undefined) break;
      this.#to.write(chunk.subarray(0, allowance));
      if (chunk.length > allowance) this.#queue.unshift(chunk.subarray(allowance));
      allowance -= chunk.length;
    }
    if (this.#queue.length === 0) this.#from.resume();
  }
}

/** A client's connection and the one that the proxy made for it. */
export class FaultLink {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #up: Pipe;
  readonly #down: Pipe;
  readonly #onGone: () => void;
  /** The first end that went away by itself, and how. */
  #closing: { other: Socket; isReset: boolean } | undefined;
  #isGone = false;

  constructor(client: Socket, server: Socket, onGone: () => void) {
    this.#client = client;
    this.#server = server;
    this.#onGone = onGone;
    this.#up = new Pipe(client, server);
    this.#down = new Pipe(server, client);
    this.#watch(client, server);
    this.#watch(server, client);
  }

  set(direction: Direction | "both", mode: Mode): void {
    if (direction !== "down") this.#up.set(mode);
    if (direction !== "up") this.#down.set(mode);
    this.#settle();
  }

  release(): void {
    this.set("both", PASS);
  }

  /** RST to both ends. */
  reset(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
    this.#leave();
  }

  #watch(socket: Socket, other: Socket): void {
    let isReset = false;
    socket.on("error", () => {
      isReset = true;
    });
    socket.on("close", () => {
      this.#closing ??= { other, isReset };
      this.#settle();
    });
  }

  /** What happened to one end reaches the other as soon as both directions pass. */
  #settle(): void {
    if (this.#closing === undefined || this.#isGone) return;
    if (!this.#up.isPassing || !this.#down.isPassing) return;
    const { other, isReset } = this.#closing;
    this.#up.flush();
    this.#down.flush();
    if (isReset) other.resetAndDestroy();
    else other.destroySoon();
    this.#leave();
  }

  #leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#up.stop();
    this.#down.stop();
    this.#onGone();
  }
}
