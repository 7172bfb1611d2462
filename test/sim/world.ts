import { AppError, isAppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import type { ActorOptions, Actors } from "../../src/roles/actors.ts";
import { createRecord, type RecordOptions } from "../support/record/create-record.ts";
import type { SimRecord } from "../support/record/sim-record.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { SimBlobs } from "./blobs.ts";
import { castOf } from "./cast.ts";
import { Desk } from "./desk.ts";
import { Device } from "./device.ts";
import { Duels } from "./duels.ts";
import { Faults } from "./faults.ts";
import { LEASE_MS, SimHost } from "./host.ts";
import { Broker, CALM_BUS } from "./kernel/broker.ts";
import { Kernel } from "./kernel/kernel.ts";
import { Machine } from "./kernel/machine.ts";
import { People } from "./people.ts";
import { type Plan, planOf } from "./plan.ts";
import { request } from "./request.ts";
import { Story } from "./story.ts";
import type { StreamRecord } from "./streams.ts";
import { RedactionTwin } from "./taken-out.ts";
import { Viewer } from "./viewer.ts";
import { SimWorker, type WorkerPool } from "./worker.ts";

/** A bug that is planted where parts meet. */
export interface Mutant {
  name: string;
  /** A seed that shows it. */
  shownBy: number;
  /** Puts a broken part in the place of a good one, at one host. */
  bend?(ports: ActorOptions, host: Bent): Partial<ActorOptions>;
  /** The same of what streams stand on. */
  bendStreams?(ports: StreamRecord, world: World): Partial<StreamRecord>;
}

export interface Bent {
  world: World;
  /** To be asked for only once the host runs. */
  actors(): Actors;
}

export interface SimSession {
  id: string;
  device: Device;
  people: People;
  viewers: Viewer[];
  /** Milliseconds at which it was last known that somebody would still do something. */
  lastActAt: number;
}

interface WorldOptions {
  seed: number;
  kernel: Kernel;
  names: Machine;
  record: SimRecord;
  mutant: Mutant | undefined;
}

/** Apart from what a seed decides otherwise. */
const AFTERWARDS = 1_000_003;
/** So long after a fault leases and owners are as they shall be, milliseconds. */
const SETTLED_MS = 4 * LEASE_MS;

/** Everything that takes part in one run. */
export class World {
  readonly kernel: Kernel;
  readonly story: Story;
  readonly broker: Broker;
  readonly record: SimRecord;
  readonly desk: Desk;
  readonly duels = new Duels({
    holds: (host, id) => this.#holds(host, id),
    holder: (id) => this.record.holder(id),
    fail: (id, message) => this.fail(id, message),
  });
  readonly blobs = new SimBlobs();
  readonly pool: WorkerPool;
  readonly plan: Plan;
  readonly faults: Faults;
  readonly sessions: SimSession[] = [];
  readonly hosts: SimHost[] = [];
  /** Sessions that somebody has deleted. */
  readonly deleted = new Set<string>();
  /** And heard that it is done. */
  readonly erased = new Set<string>();
  readonly redactions: RedactionTwin;
  readonly cutFromWorkers = new Set<string>();
  /** How often what happened. */
  readonly counts = new Map<string, number>();
  requestLoss: number;
  /** The session that the first fault concerns. */
  faultOf: string | undefined;
  readonly #names: Machine;
  readonly #mutant: Mutant | undefined;
  #started = 0;

  private constructor({ seed, kernel, names, record, mutant }: WorldOptions) {
    this.kernel = kernel;
    this.record = record;
    kernel.follow = () => record.step();
    this.#mutant = mutant;
    this.story = new Story(kernel);
    this.redactions = new RedactionTwin(kernel);
    this.broker = new Broker(kernel);
    this.#names = names;
    this.desk = new Desk(record, () => this.newId());
    this.plan = planOf(kernel.random, new SeededRandom(seed + AFTERWARDS));
    this.requestLoss = this.plan.requestLoss;
    this.pool = {
      kernel,
      workers: this.plan.workers.map((options, n) => new SimWorker(`worker-${n}`, options, kernel)),
      counts: { poisoned: 0, full: 0, broken: 0, opened: 0 },
      reaches: (host) => !this.cutFromWorkers.has(host),
    };
    const { kinds, every, until } = this.plan.faults;
    this.faults = new Faults(this, kinds, every, until);
  }

  static async create(seed: number, kind: RecordOptions["kind"], mutant?: Mutant): Promise<World> {
    const kernel = new Kernel(new SeededRandom(seed));
    const names = new Machine("world", kernel);
    const runtime = new Machine("database", kernel);
    const record = await createRecord({ kind, runtime, seed: kernel.random.below(2 ** 31) });
    return new World({ seed, kernel, names, record, mutant });
  }

  newId(): string {
    return this.#names.newId();
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  logOf(host: string): Log {
    return this.story.log(host);
  }

  bend(actors: () => Actors, ports: ActorOptions): ActorOptions {
    const { journal } = ports;
    const guarded: ActorOptions = {
      ...ports,
      journal: {
        activate: (id) => (this.isUnloadable(id) ? this.#refuse() : journal.activate(id)),
        load: (id, from) => journal.load(id, from),
        append: (batch) => journal.append(batch),
      },
    };
    return { ...guarded, ...this.#mutant?.bend?.(guarded, { world: this, actors }) };
  }

  bendStreams({ streams, openChunks }: StreamRecord): StreamRecord {
    const ports = { streams, openChunks };
    return { ...ports, ...this.#mutant?.bendStreams?.(ports, this) };
  }

  /** What is on record of it can be loaded by nobody. */
  isUnloadable(sessionId: string): boolean {
    const { unloadableAt } = this.plan;
    if (unloadableAt === undefined || this.kernel.now < unloadableAt) return false;
    return sessionId === this.sessions[0]?.id;
  }

  async #refuse(): Promise<never> {
    this.count("session that cannot be loaded");
    throw new AppError("internal", "This session's past cannot be read.");
  }

  fail(sessionId: string, message: string): void {
    if (this.kernel.fault === undefined) this.faultOf = sessionId;
    this.kernel.fail(new Error(message));
  }

  /** Readings broke so often that audio may be held to have done it. */
  get mayBlame(): boolean {
    const { counts, pool } = this;
    const deaths = (counts.get("worker died") ?? 0) + (counts.get("worker stalled") ?? 0);
    return deaths + pool.counts.poisoned >= 3;
  }

  #holds(name: string, sessionId: string): boolean {
    const host = this.hosts.find((each) => each.name === name);
    if (!host?.isUp || host.machine.isPaused) return false;
    if (this.kernel.now < this.faults.ownersChangeUntil + SETTLED_MS) return false;
    return host.actors.host.active.some(({ id }) => id === sessionId);
  }

  /** Somebody has deleted it. */
  isDeleted(sessionId: string): boolean {
    return this.deleted.has(sessionId);
  }

  calmBus(): void {
    this.broker.mood = CALM_BUS;
  }

  startHost(): void {
    this.#started += 1;
    const host = new SimHost(this, `host-${this.#started}`);
    host.machine.skew = this.plan.skews[this.#started % this.plan.skews.length] ?? 0;
    this.story.tell("", `${host.name} starts`);
    const gone = this.hosts.filter(({ machine }) => machine.isDead);
    for (const each of gone) this.hosts.splice(this.hosts.indexOf(each), 1);
    this.hosts.push(host);
    host.start();
  }

  async begin(): Promise<void> {
    const { kernel, plan } = this;
    for (let n = 0; n < plan.hosts; n += 1) this.startHost();
    for (const each of plan.sessions) this.#session(each);
    this.faults.start();
    kernel.plan(plan.faults.until, () => this.#calm());
    await this.record.add(castOf(this.sessions.map(({ device }) => device.deviceId)));
  }

  #session({ device: devicePlan, wishes, viewers, readAgain }: Plan["sessions"][number]): void {
    const { kernel } = this;
    const id = this.newId();
    const device = new Device(this, id, this.newId(), devicePlan);
    const session: SimSession = {
      id,
      device,
      people: new People(this, id),
      viewers: [],
      lastActAt: 0,
    };
    this.sessions.push(session);
    kernel.plan(kernel.random.next() * 5_000, () => device.begin());
    for (const at of wishes) {
      session.lastActAt = Math.max(session.lastActAt, at);
      kernel.plan(at, () => {
        if (device.isStarted) void session.people.act();
      });
    }
    for (const [index, { at, fromStart }] of viewers.entries()) {
      kernel.plan(at, () => {
        const viewer = new Viewer(this, id, `${index}`, fromStart);
        session.viewers.push(viewer);
        viewer.watch();
        this.#dropNowAndThen(viewer);
      });
    }
    if (readAgain) kernel.plan(10_000, () => this.#readAgain(session));
    if (devicePlan.lostAt !== undefined) this.#stopLost(device, devicePlan.lostAt + 30_000);
  }

  #dropNowAndThen(viewer: Viewer): void {
    const { kernel } = this;
    kernel.plan(10_000 + kernel.random.next() * 60_000, () => {
      if (kernel.now > this.plan.faults.until) return;
      this.count("viewer dropped");
      viewer.drop();
      this.#dropNowAndThen(viewer);
    });
  }

  /** When it is over, as long as something may still go wrong. */
  async #readAgain({ id, people }: Pick<SimSession, "id" | "people">): Promise<void> {
    if (this.kernel.now > this.plan.faults.until) return;
    const [session] = await this.record.rows("sessions", id);
    if (session?.status === "completed") return people.readAgain();
    this.kernel.plan(2_000, () => void this.#readAgain({ id, people }));
  }

  /** Its owner stops a session whose device is gone for good. */
  #stopLost(device: Device, ms: number): void {
    const { kernel } = this;
    kernel.plan(ms, () => {
      request(this, 10_000, (host) => host.stop(device.sessionId, undefined)).catch(
        (error: unknown) => {
          const isAway = isAppError(error, "not_found");
          if (!isAway || kernel.now < this.plan.faults.until) this.#stopLost(device, 2_000);
        },
      );
    });
  }

  /** From now on nothing goes wrong any more. */
  #calm(): void {
    this.record.moods.calm();
    this.calmBus();
    this.requestLoss = 0;
    this.cutFromWorkers.clear();
    for (const { line } of this.hosts) line.mend();
    for (const worker of this.pool.workers) worker.isStalled = false;
    if (!this.hosts.some(({ isUp }) => isUp)) this.startHost();
    this.story.tell("", "nothing goes wrong any more");
  }

  /** How often what was exercised. */
  summary(): Map<string, number> {
    const { counts, pool, broker } = this;
    const all = new Map(counts);
    for (const [name, n] of Object.entries(pool.counts)) all.set(`workers: ${name}`, n);
    for (const [name, n] of Object.entries(broker.counts)) all.set(`messages: ${name}`, n);
    return all;
  }

  /** Those who are still to do something of their own. */
  get isBusy(): boolean {
    const { now } = this.kernel;
    if (now < this.plan.faults.until) return true;
    return this.sessions.some(
      ({ device, lastActAt, people }) => now < lastActAt || !device.isDone || people.isActing,
    );
  }
}
