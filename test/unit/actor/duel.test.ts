import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Behaviour, EffectsContext } from "../../../src/actor/actor.ts";
import { ActorHost } from "../../../src/actor/host.ts";
import type { LeaseTable } from "../../../src/actor/lease.ts";
import { PartitionOwner } from "../../../src/actor/partition-owner.ts";
import { Sweeper } from "../../../src/actor/sweeper.ts";
import { AppError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { PARTITIONS, partitionOf } from "../../../src/base/partition.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";
import { MemoryLeases } from "../../support/memory/memory-leases.ts";

const LEASE = 1_500;
const MINUTE = 60_000;
/** All over the partitions. */
const SESSIONS = Array.from(
  { length: 12 },
  (_, n) => `01980000-0000-7000-8000-000000000${(0x100 + n * 85).toString(16)}`,
);

type State = { steps: number };

const walking: Behaviour<State, "step", never, "step"> = {
  initial: () => ({ steps: 0 }),
  apply: (state) => {
    state.steps += 1;
  },
  decide: (state) => {
    state.steps += 1;
    return { events: ["step"], writes: [], reply: state.steps };
  },
  hasWork: () => true,
  isRepeatable: () => true,
  deadline: () => undefined,
  snapshotVersion: 1,
  pack: (state) => state,
  unpack: (packed) => packed as State,
};

/** Tells itself something again and again, as a reading does. */
function reader({ send }: EffectsContext<"step">) {
  const timer = systemRuntime.every(200, () => send("step"));
  return {
    start: () => {},
    after: () => {},
    busy: () => true,
    stop: async () => timer.cancel(),
  };
}

/** A host of sessions over the one record, as the service puts it together. */
class Host {
  readonly name: string;
  readonly actors: ActorHost<State, "step", never, "step">;
  readonly owner: PartitionOwner;
  readonly sweeper: Sweeper;
  isCut = false;

  constructor(name: string, record: MemoryJournal<"step", never>, table: MemoryLeases) {
    this.name = name;
    this.actors = new ActorHost<State, "step", never, "step">({
      activation: {
        behaviour: walking,
        journal: record,
        createEffects: (context) => [reader(context)],
        runtime: systemRuntime,
        log: silentLog,
        mailboxCapacity: 10,
        batchSize: 10,
        snapshotEvery: 100,
        appendAttempts: 1,
        hasRight: () => this.owner.hasRight(),
      },
      maxActivations: 100,
      passivateAfter: 10 * MINUTE,
      sweepEvery: 10_000,
      onFailed: (id) => this.sweeper.failed(id),
      onFenced: (partition) => this.owner.dispute(partition),
    });
    this.owner = new PartitionOwner({
      host: name,
      table: this.#through(table),
      runtime: systemRuntime,
      log: silentLog,
      leaseTime: LEASE,
      onTaken: (partitions) => {
        this.actors.own(...partitions);
        this.sweeper.taken(...partitions);
      },
      onReleased: (partitions) => this.actors.release(...partitions),
      onLost: (partitions) => this.actors.lose(...partitions),
    });
    this.sweeper = new Sweeper({
      backlog: {
        openWork: async (places) =>
          places.flatMap(({ partition }) =>
            SESSIONS.filter((id) => partitionOf(id) === partition).map((sessionId) => ({
              partition,
              sessionId,
            })),
          ),
        waiting: async () => [],
        queues: async () => [],
        commandsTo: async () => [],
        failed: async () => [],
        ended: async () => [],
      },
      owned: () => this.actors.owned,
      activate: (id) => this.actors.activate(id),
      active: () => this.actors.active,
      end: (active, isDeleted) => this.actors.end(active, isDeleted),
      deliver: async () => {},
      runtime: systemRuntime,
      log: silentLog,
      every: 1_000,
      olderThan: 2_000,
    });
  }

  /** The leases, as long as this host is not cut from them. */
  #through(leases: MemoryLeases): LeaseTable {
    const table = leases.of(this.name);
    const reach = async <T>(work: () => Promise<T>): Promise<T> => {
      if (!this.isCut) return work();
      await systemRuntime.delay(600);
      throw new AppError("unavailable", "The leases cannot be read.");
    };
    return {
      poll: (lease) => reach(() => table.poll(lease)),
      take: (wanted) => reach(() => table.take(wanted)),
      holds: (partition) => reach(() => table.holds(partition)),
      free: (partitions) => reach(() => table.free(partitions)),
      forget: (hosts) => reach(() => table.forget(hosts)),
    };
  }

  async start(): Promise<void> {
    this.sweeper.start();
    await this.owner.start();
  }

  async stop(): Promise<void> {
    this.isCut = false;
    await Promise.all([this.sweeper.stop(), this.owner.stop()]);
    await this.actors.drain();
  }
}

describe("duel", () => {
  const hosts: Host[] = [];
  beforeEach(() => vi.useFakeTimers());
  afterEach(async () => {
    const stopped = Promise.all(hosts.splice(0).map((host) => host.stop()));
    await vi.advanceTimersByTimeAsync(10_000);
    await stopped;
    vi.useRealTimers();
  });

  async function open(names: readonly string[]) {
    const record = new MemoryJournal<"step", never>();
    for (const id of SESSIONS) record.create(id);
    const table = new MemoryLeases();
    for (const name of names) {
      const host = new Host(name, record, table);
      hosts.push(host);
      await host.start();
      await vi.advanceTimersByTimeAsync(5_000);
    }
    const epochs = () => SESSIONS.map((id) => record.read(id).epoch);
    const steps = () => SESSIONS.map((id) => record.read(id).events.length);
    return { record, table, epochs, steps };
  }

  /** By how much each rose. */
  const risen = (before: number[], after: number[]) =>
    after.map((each, index) => each - (before[index] ?? 0));

  it("duel: a host that is cut from the leases alone yields, and every session goes on", async () => {
    const { table, epochs, steps } = await open(["a", "b"]);
    const [a, b] = hosts as [Host, Host];
    const held = SESSIONS.filter((id) => a.owner.owned.has(partitionOf(id)));
    expect(held.length).toBeGreaterThan(0);
    const [epochsBefore, stepsBefore] = [epochs(), steps()];
    a.isCut = true;
    table.cut.add("a");
    await vi.advanceTimersByTimeAsync(MINUTE);
    for (const [index, more] of risen(epochsBefore, epochs()).entries()) {
      expect(more).toBe(held.includes(SESSIONS[index] as string) ? 1 : 0);
    }
    // One step each 200 ms, but for the moment in which the owner changed.
    for (const more of risen(stepsBefore, steps())) expect(more).toBeGreaterThan(280);
    expect([a.owner.hasRight(), b.owner.owned.size]).toEqual([false, PARTITIONS]);
    // It comes back, and gets its share again, each session handed over once at most.
    const epochsCut = epochs();
    a.isCut = false;
    table.cut.delete("a");
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(a.owner.owned.size).toBe(PARTITIONS / 2);
    for (const more of risen(epochsCut, epochs())) expect(more).toBeLessThanOrEqual(1);
  });

  it("duel: a host that holds its sessions for certain takes back what another one took", async () => {
    const { record, epochs, steps } = await open(["a"]);
    const epochsBefore = epochs();
    // Somebody who thinks it is the owner, and does nothing more.
    await record.activate(SESSIONS[0] as string);
    const stepsBefore = steps();
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(risen(epochsBefore, epochs())).toEqual([2, ...SESSIONS.slice(1).map(() => 0)]);
    for (const more of risen(stepsBefore, steps())) expect(more).toBeGreaterThan(280);
  });

  it("duel: while the leases are away for all, nothing begins and nobody gives anything up", async () => {
    const { epochs, steps } = await open(["a", "b"]);
    const epochsBefore = epochs();
    for (const host of hosts) host.isCut = true;
    await vi.advanceTimersByTimeAsync(2 * LEASE);
    const stepsCut = steps();
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(steps()).toEqual(stepsCut);
    for (const host of hosts) host.isCut = false;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(epochs()).toEqual(epochsBefore);
    for (const more of risen(stepsCut, steps())) expect(more).toBeGreaterThan(280);
  });

  it("duel: a host that is told only when it puts a session away yields as well", async () => {
    const { record } = await open(["a"]);
    const [host] = hosts as [Host];
    const [id] = SESSIONS as [string];
    const fenced: number[] = [];
    const idle = new ActorHost<State, "step", never, "step">({
      activation: {
        behaviour: walking,
        journal: record,
        createEffects: () => [],
        runtime: systemRuntime,
        log: silentLog,
        mailboxCapacity: 10,
        batchSize: 10,
        snapshotEvery: 100,
        appendAttempts: 1,
      },
      maxActivations: 100,
      passivateAfter: MINUTE,
      sweepEvery: 1_000,
      onFenced: async (partition) => {
        fenced.push(partition);
        return false;
      },
    });
    await host.stop();
    hosts.length = 0;
    idle.start();
    idle.own(partitionOf(id));
    await idle.deliver(id, "step", "wish");
    await record.activate(id);
    await vi.advanceTimersByTimeAsync(2 * MINUTE);
    await idle.drain();
    expect(fenced).toEqual([partitionOf(id)]);
  });
});
