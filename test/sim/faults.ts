import type { Broker } from "./kernel/broker.ts";
import type { Scene } from "./scene.ts";
import type { WorkerPool } from "./worker.ts";

/** The world, as far as something can go wrong with it. */
export interface FragileWorld extends Scene {
  readonly broker: Broker;
  readonly pool: WorkerPool;
  readonly cutFromWorkers: Set<string>;
  requestLoss: number;
  startHost(): void;
  calmBus(): void;
}

export const FAULTS = [
  "host killed",
  "host left in good order",
  "host paused",
  "host cut from the bus",
  "host cut from the record",
  "host cut from the workers",
  "bus away",
  "host cut from the leases",
  "bus loses, doubles, delays",
  "record slow and failing",
  "record read-only",
  "record away",
  "worker died",
  "worker stalled",
  "network of requests loses",
] as const;

export type Fault = (typeof FAULTS)[number];

/** No session changes its owner because of them. */
const BESIDE_OWNERS: ReadonlySet<Fault> = new Set<Fault>([
  "host cut from the bus",
  "bus away",
  "bus loses, doubles, delays",
  "host cut from the workers",
  "worker died",
  "worker stalled",
  "network of requests loses",
]);

const MINUTE = 60_000;

/** Lets things go wrong from time to time, and says when the last of it is over. */
export class Faults {
  readonly #world: FragileWorld;
  readonly #kinds: readonly Fault[];
  readonly #every: number;
  /** After it nothing goes wrong any more. */
  readonly until: number;
  /** How many there were after which a session may have to change its owner. */
  count = 0;
  /** When the last fault is over after which a session may have to change its owner. */
  ownersChangeUntil = Number.NEGATIVE_INFINITY;

  constructor(world: FragileWorld, kinds: readonly Fault[], every: number, until: number) {
    this.#world = world;
    this.#kinds = kinds;
    this.#every = every;
    this.until = until;
  }

  start(): void {
    if (this.#kinds.length > 0) this.#next();
  }

  #next(): void {
    const { kernel } = this.#world;
    const wait = this.#every * (0.3 + 1.4 * kernel.random.next());
    if (kernel.now + wait >= this.until) return;
    kernel.plan(wait, () => {
      this.#strike(kernel.random.pick(this.#kinds));
      this.#next();
    });
  }

  /** Milliseconds, mostly short, and never beyond the end of all faults. */
  #while(most: number): number {
    const { kernel } = this.#world;
    const ms = most * kernel.random.next() ** 2 + 50;
    return Math.max(0, Math.min(ms, this.until - kernel.now));
  }

  #strike(fault: Fault): void {
    const world = this.#world;
    const { kernel, broker, record, story } = world;
    const { random } = kernel;
    const up = world.hosts.filter(({ isUp, machine }) => isUp && !machine.isPaused);
    const host = up.length === 0 ? undefined : random.pick(up);
    const tell = (ms?: number): void => {
      world.count(fault);
      if (!BESIDE_OWNERS.has(fault)) {
        this.count += 1;
        this.ownersChangeUntil = Math.max(this.ownersChangeUntil, kernel.now + (ms ?? 0));
      }
      const who = fault.startsWith("host") ? ` (${host?.name})` : "";
      story.tell("", `fault: ${fault}${who}${ms === undefined ? "" : ` for ${Math.round(ms)} ms`}`);
    };
    switch (fault) {
      case "host killed": {
        if (host === undefined) return;
        const ms = this.#while(30_000);
        tell(ms);
        host.kill();
        kernel.plan(ms, () => world.startHost());
        return;
      }
      case "host left in good order": {
        if (host === undefined || up.length < 2) return;
        const ms = this.#while(10_000);
        tell(ms);
        host.machine.enter(() => void host.leave());
        kernel.plan(ms + 15_000, () => world.startHost());
        return;
      }
      case "host paused": {
        if (host === undefined) return;
        const ms = this.#while(40_000);
        tell(ms);
        return host.machine.pause(ms);
      }
      case "host cut from the bus": {
        if (host === undefined) return;
        const ms = this.#while(2 * MINUTE);
        tell(ms);
        host.line.cut();
        kernel.plan(ms, () => host.line.mend());
        return;
      }
      case "host cut from the record": {
        if (host === undefined) return;
        const ms = this.#while(MINUTE);
        tell(ms);
        record.moods.set({ reach: random.pick(["refused", "silent"] as const) }, host.name);
        kernel.plan(ms, () => record.moods.set({}, host.name));
        return;
      }
      case "host cut from the workers": {
        if (host === undefined) return;
        const ms = this.#while(MINUTE);
        tell(ms);
        world.cutFromWorkers.add(host.name);
        kernel.plan(ms, () => world.cutFromWorkers.delete(host.name));
        return;
      }
      case "bus away": {
        const ms = this.#while(30_000);
        tell(ms);
        for (const { line } of world.hosts) line.cut();
        kernel.plan(ms, () => {
          for (const { line } of world.hosts) line.mend();
        });
        return;
      }
      case "host cut from the leases": {
        if (host === undefined) return;
        const ms = this.#while(MINUTE);
        tell(ms);
        record.cutLeases(host.name, true);
        kernel.plan(ms, () => record.cutLeases(host.name, false));
        return;
      }
      case "bus loses, doubles, delays": {
        const ms = this.#while(MINUTE);
        tell(ms);
        broker.mood = { lost: 0.1, twice: 0.1, late: 0.2, lateBy: 3_000 };
        kernel.plan(ms, () => world.calmBus());
        return;
      }
      case "record slow and failing": {
        const ms = this.#while(MINUTE);
        tell(ms);
        record.moods.set({
          slow: 0.1,
          slowBy: 2_000,
          lost: 0.03,
          unknown: 0.05,
          timedOut: 0.02,
          deadlocked: 0.02,
        });
        kernel.plan(ms, () => record.moods.set({}));
        return;
      }
      case "record read-only": {
        const ms = this.#while(MINUTE);
        tell(ms);
        record.moods.set({ readOnly: true });
        kernel.plan(ms, () => record.moods.set({}));
        return;
      }
      case "record away": {
        const ms = this.#while(40_000);
        tell(ms);
        record.moods.set({ reach: "refused" });
        kernel.plan(ms, () => record.moods.set({}));
        return;
      }
      case "worker died": {
        tell();
        random.pick(world.pool.workers).die();
        return;
      }
      case "worker stalled": {
        const ms = this.#while(3 * MINUTE);
        tell(ms);
        const worker = random.pick(world.pool.workers);
        worker.isStalled = true;
        kernel.plan(ms, () => {
          worker.isStalled = false;
        });
        return;
      }
      case "network of requests loses": {
        const ms = this.#while(MINUTE);
        tell(ms);
        world.requestLoss = 0.3;
        kernel.plan(ms, () => {
          world.requestLoss = 0;
        });
        return;
      }
    }
  }
}
