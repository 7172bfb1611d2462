import { AppError } from "../../../src/base/errors.ts";
import type { MessageBus, OnRequest } from "../../../src/nats/message-bus.ts";
import type { Kernel } from "./kernel.ts";
import type { Machine } from "./machine.ts";

/** How a message bus treats what is sent. Shares from 0 to 1. */
export interface BusMood {
  lost: number;
  twice: number;
  /** Messages that take much longer than others, and so come after later ones. */
  late: number;
  lateBy: number;
}

export const CALM_BUS: BusMood = { lost: 0, twice: 0, late: 0, lateBy: 0 };

const RECONNECT_MS = 300;

/** The server in the middle: hands messages on to whoever listens. */
export class Broker {
  readonly kernel: Kernel;
  mood: BusMood = CALM_BUS;
  readonly counts = { lost: 0, twice: 0, late: 0, cut: 0 };
  readonly #subscriptions = new Map<string, Set<Subscription>>();

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  connect(machine: Machine): BrokerBus {
    return new BrokerBus(this, machine);
  }

  /** Milliseconds of one way; undefined when it gets lost. */
  way(): number | undefined {
    const { random } = this.kernel;
    const { lost, late, lateBy } = this.mood;
    if (lost > 0 && random.chance(lost)) {
      this.counts.lost += 1;
      return undefined;
    }
    const usual = 0.1 + random.next() * 0.6;
    if (late === 0 || !random.chance(late)) return usual;
    this.counts.late += 1;
    return usual + random.next() * lateBy;
  }

  add(subject: string, subscription: Subscription): void {
    const all = this.#subscriptions.get(subject) ?? new Set();
    all.add(subscription);
    this.#subscriptions.set(subject, all);
  }

  remove(subject: string, subscription: Subscription): void {
    this.#subscriptions.get(subject)?.delete(subscription);
  }

  /** Of what has reached the server; false when nobody listens. */
  handOn(subject: string, data: Uint8Array, answer?: Answer): boolean {
    const { random } = this.kernel;
    const listening = [...(this.#subscriptions.get(subject) ?? [])];
    for (const subscription of listening) {
      const again = this.mood.twice > 0 && random.chance(this.mood.twice);
      if (again) this.counts.twice += 1;
      for (let n = again ? 2 : 1; n > 0; n -= 1) this.#deliver(subscription, data, answer);
    }
    return listening.length > 0;
  }

  #deliver({ line, onMessage }: Subscription, data: Uint8Array, answer?: Answer): void {
    const ms = this.way();
    if (ms === undefined) return;
    this.kernel.plan(ms, () => {
      if (line.isUp) line.machine.enter(() => onMessage(data, answer));
    });
  }
}

/** Back to whoever asked. */
type Answer = (data: Uint8Array) => void;

interface Subscription {
  line: BrokerBus;
  onMessage(data: Uint8Array, answer?: Answer): void;
}

/** A process's connection to the broker. */
export class BrokerBus implements MessageBus {
  readonly machine: Machine;
  /** How often it was cut. */
  breaks = 0;
  readonly #broker: Broker;
  readonly #wanted = new Map<Subscription, string>();
  readonly #onBack: (() => void)[] = [];
  readonly #waiting = new Set<() => void>();
  #buffer: (() => void)[] = [];
  #isUp = true;
  #isClosed = false;

  constructor(broker: Broker, machine: Machine) {
    this.#broker = broker;
    this.machine = machine;
  }

  /** The server reaches it. A paused process is connected, too. */
  get isUp(): boolean {
    return this.#isUp && !this.#isClosed && !this.machine.isDead;
  }

  isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    for (const [subscription, subject] of this.#wanted) {
      this.#broker.remove(subject, subscription);
    }
  }

  publish(subject: string, data: Uint8Array): void {
    this.send(() => this.#broker.handOn(subject, data));
  }

  /** Something that the server does once this has reached it. */
  send(act: () => void): void {
    if (this.#isClosed) return;
    if (!this.#isUp) {
      // The client keeps what is sent during a break, as long as it has room.
      if (this.#buffer.length < 200 && this.#broker.kernel.random.chance(0.7)) {
        this.#buffer.push(act);
      }
      return;
    }
    const ms = this.#broker.way();
    if (ms === undefined) return;
    this.#broker.kernel.plan(ms, () => {
      if (this.#isUp) act();
    });
  }

  request(subject: string, data: Uint8Array, ms: number): Promise<Uint8Array> {
    if (this.#isClosed) return Promise.reject(nobody());
    return new Promise((resolve, reject) => {
      const timer = this.machine.after(ms, () =>
        reject(new AppError("timeout", "There was no answer in time.")),
      );
      const settle = (work: () => void): void =>
        this.#hear(() => {
          timer.cancel();
          work();
        });
      this.send(() => {
        const isAsked = this.#broker.handOn(subject, data, (reply) => settle(() => resolve(reply)));
        if (!isAsked) settle(() => reject(nobody()));
      });
    });
  }

  serve(subject: string, onRequest: OnRequest): () => void {
    const onMessage = (data: Uint8Array, answer?: Answer): void => {
      void onRequest(data).then((reply) => {
        if (reply !== undefined && answer !== undefined) this.send(() => answer(reply));
      });
    };
    return this.#listen(subject, onMessage);
  }

  /** From the server to the process. */
  #hear(work: () => void): void {
    const ms = this.#broker.way();
    if (ms === undefined) return;
    this.#broker.kernel.plan(ms, () => {
      if (this.isUp) this.machine.enter(work);
    });
  }

  subscribe(subject: string, onMessage: (data: Uint8Array) => void): () => void {
    return this.#listen(subject, onMessage);
  }

  #listen(subject: string, onMessage: Subscription["onMessage"]): () => void {
    const subscription = { line: this, onMessage };
    this.#wanted.set(subscription, subject);
    if (this.#isUp) this.#broker.add(subject, subscription);
    return () => {
      this.#wanted.delete(subscription);
      this.#broker.remove(subject, subscription);
    };
  }

  flush(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("CONNECTION_CLOSED"));
    return new Promise((resolve) => {
      const ask = (): void => {
        if (!this.#isUp) {
          this.#waiting.add(ask);
          return;
        }
        this.#broker.kernel.plan(1, () => {
          if (this.#isUp) this.machine.enter(resolve);
          else this.#waiting.add(ask);
        });
      };
      ask();
    });
  }

  onBack(listener: () => void): void {
    this.#onBack.push(listener);
  }

  /** Nothing comes through any more, in either direction. */
  cut(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.breaks += 1;
    this.#broker.counts.cut += 1;
    for (const [subscription, subject] of this.#wanted) {
      this.#broker.remove(subject, subscription);
    }
  }

  mend(): void {
    if (this.#isUp || this.#isClosed || this.machine.isDead) return;
    this.#broker.kernel.plan(RECONNECT_MS, () => {
      this.#isUp = true;
      for (const [subscription, subject] of this.#wanted) this.#broker.add(subject, subscription);
      for (const act of this.#buffer.splice(0)) this.send(act);
      for (const ask of [...this.#waiting]) {
        this.#waiting.delete(ask);
        ask();
      }
      this.machine.enter(() => {
        for (const listener of this.#onBack) listener();
      });
    });
  }
}

function nobody(): AppError {
  return new AppError("unavailable", "Nobody is there to be asked.");
}
