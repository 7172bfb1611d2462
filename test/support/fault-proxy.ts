import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { type Bite, type Direction, FaultLink, type Mode } from "./fault-link.ts";

/**
 * cut: a reset of both ends. refuse: that, and nobody gets in for a while.
 * stall: nothing passes either way, then everything does. one-way: a stall in
 * one direction. slow: a trickle, both ways. half-open: the connections of that
 * moment lead nowhere, and neither end is told until they are reset; new ones work.
 */
export const FAULT_KINDS = ["cut", "refuse", "stall", "one-way", "slow", "half-open"] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** How long it lasts; a cut is over at once. */
  readonly ms: number;
  /** Of the dead direction of `one-way`; up is towards the server. */
  readonly direction?: Direction;
  readonly bytesPerSecond?: number;
}

const PASS: Mode = { kind: "pass" };
const CONNECT_MS = 5_000;
const POLL_MS = 20;

/** A TCP proxy on loopback that does to its connections what bad networks do. */
export class FaultProxy {
  readonly name: string;
  #target: number;
  readonly #server: Server;
  readonly #links = new Set<FaultLink>();
  readonly #tally = new Map<FaultKind, { times: number } & Bite>();
  #current: { fault: Fault; bite: Bite; end(): void } | undefined;
  /** For connections that come while a fault lasts. */
  #up: Mode = PASS;
  #down: Mode = PASS;
  #isRefusing = false;

  private constructor(name: string, target: number) {
    this.name = name;
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  /** Before the port of `target`, on this machine. */
  static async start(name: string, target: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(name, target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** Connections from now on lead to another port; those that are there stay where they are. */
  lead(target: number): void {
    this.#target = target;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#links.size;
  }

  get isFaulty(): boolean {
    return this.#current !== undefined;
  }

  /** What faults of this kind have done so far, all together. */
  told(kind: FaultKind): { times: number } & Bite {
    return this.#tally.get(kind) ?? { times: 0, connections: 0, bytes: 0 };
  }

  /**
   * Resolves with what it did when it is over: after `ms`, and not before it has bitten or
   * `longestMs` have gone by. One fault at a time.
   */
  async inflict(fault: Fault, longestMs = fault.ms): Promise<Bite> {
    if (this.#current !== undefined) throw new Error(`${this.name} has a fault already`);
    const bite: Bite = { connections: 0, bytes: 0 };
    const over = new AbortController();
    this.#current = { fault, bite, end: () => over.abort() };
    const undo = this.#begin(fault, bite);
    const shortestMs = fault.kind === "cut" ? 0 : fault.ms;
    const startedAt = performance.now();
    while (!over.signal.aborted) {
      const spent = performance.now() - startedAt;
      if (spent >= longestMs || (spent >= shortestMs && hasBitten(fault.kind, bite))) break;
      await new Promise((wake) => setTimeout(wake, POLL_MS));
      if (fault.kind === "cut") this.#begin(fault, bite);
    }
    undo();
    this.#current = undefined;
    this.#count(fault.kind, bite);
    return bite;
  }

  /** Ends the fault in hand. */
  heal(): void {
    this.#current?.end();
  }

  async stop(): Promise<void> {
    this.heal();
    this.#isRefusing = true;
    for (const link of [...this.#links]) link.reset();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Returns how to end it. */
  #begin(fault: Fault, bite: Bite): () => void {
    const links = [...this.#links];
    switch (fault.kind) {
      case "cut":
        bite.connections = links.length;
        for (const link of links) link.reset();
        return () => {};
      case "refuse":
        this.#isRefusing = true;
        for (const link of links) link.reset();
        return () => {
          this.#isRefusing = false;
        };
      case "half-open":
        bite.connections = links.length;
        for (const link of links) link.set("both", { kind: "swallow", bite });
        return () => {
          for (const link of links) link.reset();
        };
      default:
        return this.#impede(fault, bite);
    }
  }

  #impede({ kind, direction = "down", bytesPerSecond = 2_000 }: Fault, bite: Bite): () => void {
    const mode: Mode = kind === "slow" ? { kind, bytesPerSecond, bite } : { kind: "hold", bite };
    if (kind !== "one-way" || direction === "up") this.#up = mode;
    if (kind !== "one-way" || direction === "down") this.#down = mode;
    bite.connections = this.#links.size;
    for (const link of this.#links) this.#impress(link);
    return () => {
      this.#up = PASS;
      this.#down = PASS;
      for (const link of this.#links) link.release();
    };
  }

  #impress(link: FaultLink): void {
    link.set("up", this.#up);
    link.set("down", this.#down);
  }

  #accept(client: Socket): void {
    if (this.#isRefusing) {
      if (this.#current !== undefined) this.#current.bite.connections += 1;
      client.on("error", () => undefined);
      client.resetAndDestroy();
      return;
    }
    client.setNoDelay(true);
    const server = connect({
      port: this.#target,
      host: "127.0.0.1",
      allowHalfOpen: true,
      timeout: CONNECT_MS,
    });
    server.setNoDelay(true);
    server.once("connect", () => server.setTimeout(0));
    server.once("timeout", () => server.destroy(new Error("no answer")));
    const link: FaultLink = new FaultLink(client, server, () => this.#links.delete(link));
    this.#links.add(link);
    this.#impress(link);
  }

  #count(kind: FaultKind, bite: Bite): void {
    const told = this.told(kind);
    this.#tally.set(kind, {
      times: told.times + 1,
      connections: told.connections + bite.connections,
      bytes: told.bytes + bite.bytes,
    });
  }
}

/** A cut or a refusal shows in connections, everything else in bytes. */
export function hasBitten(kind: FaultKind, { connections, bytes }: Bite): boolean {
  return kind === "cut" || kind === "refuse" ? connections > 0 : bytes > 0;
}
