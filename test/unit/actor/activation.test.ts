import { describe, expect, it } from "vitest";
import { Activation } from "../../../src/actor/activation.ts";
import type { Behaviour, Effects } from "../../../src/actor/actor.ts";
import type { Batch } from "../../../src/actor/journal.ts";
import { createDeferred } from "../../../src/base/deferred.ts";
import { AppError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { runtimeBy } from "../../support/manual-clock.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";

type State = { sum: number };
type Write = never;

const adding: Behaviour<State, number, Write, number> = {
  initial: () => ({ sum: 0 }),
  apply(state, event) {
    state.sum += event;
  },
  decide(state, command) {
    state.sum += command;
    return { events: [command], writes: [], reply: state.sum };
  },
  hasWork: () => false,
  isRepeatable: (command) => command !== 7,
  deadline: () => undefined,
  snapshotVersion: 1,
  pack: (state) => state,
  unpack: (packed) => packed as State,
};

const surroundings = {
  createEffects: () => [],
  runtime: runtimeBy({ now: () => 1, monotonic: () => 1 }),
  log: silentLog,
  mailboxCapacity: 10,
  batchSize: 10,
  snapshotEvery: 100,
  appendAttempts: 1,
  onFailed: () => {},
  onRefused: () => {},
};

describe("activation", () => {
  it("activation: all of its effects are told of each turn, in their order, also of one that lands after the stop", async () => {
    const record = new MemoryJournal<number, Write>();
    record.create("a");
    const held = createDeferred<void>();
    const told: string[] = [];
    const busy = { first: false, second: false };
    let now = 0;
    const note = (name: "first" | "second"): Effects<State, number, Write> => ({
      start: ({ sum }, seq) => void told.push(`${name} starts at ${seq} with ${sum}`),
      after: ({ events }) => void told.push(`${name} ${events.map(({ event }) => event)}`),
      busy: () => busy[name],
      stop: async () => void told.push(`${name} stops`),
    });
    const activation = new Activation("a", {
      behaviour: adding,
      journal: {
        activate: (id) => record.activate(id),
        load: (id, from) => record.load(id, from),
        async append(batch: Batch<number, Write>) {
          if (batch.events.some(({ event }) => event === 3)) await held.promise;
          return record.append(batch);
        },
      },
      ...surroundings,
      createEffects: () => [note("first"), note("second")],
      runtime: runtimeBy({ now: () => 1, monotonic: () => now }),
    });
    await activation.start();
    await Promise.all([activation.ask(1, "one"), activation.ask(2, "two")]);
    await new Promise((resolve) => setImmediate(resolve));
    now = 5;
    expect(activation.idleFor()).toBe(5);
    for (const name of ["first", "second"] as const) {
      busy[name] = true;
      expect(activation.idleFor()).toBe(0);
      busy[name] = false;
    }
    const late = activation.ask(3, "three");
    await new Promise((resolve) => setImmediate(resolve));
    await activation.stop();
    held.resolve();
    expect(await late).toBe(6);
    expect(told).toEqual([
      ...["first starts at 0 with 0", "second starts at 0 with 0"],
      ...["first 1,2", "second 1,2"],
      ...["first stops", "second stops"],
      ...["first 3", "second 3"],
    ]);
  });

  it("activation: one that is put away while its append fails keeps no snapshot of it", async () => {
    const record = new MemoryJournal<number, Write>();
    record.create("a");
    const held = createDeferred<void>();
    let holding = false;
    const activation = new Activation("a", {
      behaviour: adding,
      journal: {
        activate: (id) => record.activate(id),
        load: (id, from) => record.load(id, from),
        async append(batch: Batch<number, Write>) {
          if (holding && batch.events.length > 0) await held.promise;
          return record.append(batch);
        },
      },
      ...surroundings,
    });
    await activation.start();
    expect(await activation.ask(1, "one")).toBe(1);
    holding = true;
    const lost = activation.ask(10, "two").catch((error: AppError) => error.code);
    await new Promise((resolve) => setImmediate(resolve));
    const drained = activation.drain();
    held.reject(new AppError("timeout", "lost on the way"));
    await drained;
    expect(await lost).toBe("timeout");
    const { snapshot, events } = (await record.activate("a")) ?? {};
    expect(snapshot).toBeUndefined();
    expect(events?.map(({ event }) => event)).toEqual([1]);
  });

  it("activation: a command that came too early stays on record as not carried out", async () => {
    const record = new MemoryJournal<number, Write>();
    record.create("a");
    const finished: string[] = [];
    const activation = new Activation("a", {
      behaviour: {
        ...adding,
        decide(state, command) {
          if (command === 5 && state.sum === 0) throw new AppError("unavailable", "too early");
          if (command < 0) throw new AppError("conflict", "never");
          return adding.decide(state, command, 0);
        },
      },
      journal: {
        activate: (id) => record.activate(id),
        load: (id, from) => record.load(id, from),
        async append(batch: Batch<number, Write>) {
          finished.push(...batch.commandIds);
          return record.append(batch);
        },
      },
      ...surroundings,
    });
    await activation.start();
    await expect(activation.ask(5, "early")).rejects.toMatchObject({ code: "unavailable" });
    await expect(activation.ask(-1, "wrong")).rejects.toMatchObject({ code: "conflict" });
    expect(finished).toEqual(["wrong"]);
    expect(await activation.ask(1, "start")).toBe(1);
    expect(await activation.ask(5, "early")).toBe(6);
    expect(finished).toEqual(["wrong", "start", "early"]);
    await activation.stop();
  });

  it("activation: what counts once is answered, not carried out, when it comes again", async () => {
    const record = new MemoryJournal<number, Write>();
    record.create("a");
    let refusals = 0;
    const behaviour: typeof adding = {
      ...adding,
      decide(state, command) {
        if (command !== 7 || state.sum > 0) return adding.decide(state, command, 0);
        refusals += 1;
        throw new AppError("conflict", "Not yet.");
      },
    };
    const activate = async () => {
      const activation = new Activation("a", { behaviour, journal: record, ...surroundings });
      await activation.start();
      return activation;
    };
    const conflict = { code: "conflict", message: "Not yet." };
    const first = await activate();
    await expect(first.ask(7, "refused")).rejects.toMatchObject(conflict);
    expect(await first.ask(1, "one")).toBe(1);
    // In one turn, and in a later one.
    expect(await Promise.all([first.ask(7, "once"), first.ask(7, "once")])).toEqual([8, 8]);
    expect(await first.ask(7, "once")).toBe(8);
    await expect(first.ask(7, "refused")).rejects.toMatchObject(conflict);
    await first.drain();
    const second = await activate();
    expect(await second.ask(7, "once")).toBe(8);
    await expect(second.ask(7, "refused")).rejects.toMatchObject(conflict);
    expect(refusals).toBe(1);
    // Others are carried out as often as they come.
    expect(await second.ask(1, "one")).toBe(9);
    await second.stop();
  });
});
