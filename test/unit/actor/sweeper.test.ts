import { afterEach, describe, expect, it } from "vitest";
import type { Behaviour } from "../../../src/actor/actor.ts";
import { ActorHost } from "../../../src/actor/host.ts";
import type { Batch } from "../../../src/actor/journal.ts";
import { Sweeper } from "../../../src/actor/sweeper.ts";
import { AppError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { partitionOf } from "../../../src/base/partition.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";
import { until } from "../../support/until.ts";

const ACTOR = "01980000-0000-7000-8000-000000000000";

type State = { steps: number };

/** Goes its steps by itself, as a session reads its audio: no command from outside. */
const walking: Behaviour<State, "step", never, "step"> = {
  initial: () => ({ steps: 0 }),
  apply: (state) => {
    state.steps += 1;
  },
  decide: (state) => {
    state.steps += 1;
    return { events: ["step"], writes: [], reply: state.steps };
  },
  hasWork: ({ steps }) => steps < 5,
  isRepeatable: () => true,
  deadline: () => undefined,
  snapshotVersion: 1,
  pack: (state) => state,
  unpack: (packed) => packed as State,
};

describe("sweeper: an activation that a fault ended", () => {
  const record = new MemoryJournal<"step", never>();
  let sweeper: Sweeper | undefined;
  afterEach(() => sweeper?.stop());

  it("is taken up again, though nobody sends it anything", async () => {
    record.create(ACTOR);
    let outages = 2;
    let activations = 0;
    const host = new ActorHost<State, "step", never, "step">({
      activation: {
        behaviour: walking,
        journal: {
          activate: (id) => {
            activations += 1;
            return record.activate(id);
          },
          load: (id, from) => record.load(id, from),
          async append(batch: Batch<"step", never>) {
            if (batch.events.length > 0 && outages > 0 && batch.expectedSeq === 2) {
              outages -= 1;
              throw new AppError("unavailable", "The database is not reachable.");
            }
            return record.append(batch);
          },
        },
        createEffects: ({ send }) => [
          {
            start: (state) => void (state.steps < 5 && send("step")),
            after: ({ state }) => void (state.steps < 5 && send("step")),
            busy: () => false,
            stop: async () => {},
          },
        ],
        runtime: systemRuntime,
        log: silentLog,
        mailboxCapacity: 10,
        batchSize: 10,
        snapshotEvery: 100,
        appendAttempts: 1,
      },
      maxActivations: 10,
      passivateAfter: 60_000,
      sweepEvery: 60_000,
      onFailed: (id) => sweeper?.failed(id),
    });
    host.own(partitionOf(ACTOR));
    sweeper = new Sweeper({
      backlog: {
        openWork: async () => [],
        waiting: async () => [],
        queues: async () => [],
        commandsTo: async () => [],
        failed: async () => [],
        ended: async () => [],
      },
      owned: () => host.owned,
      activate: (id) => host.activate(id),
      active: () => host.active,
      end: (active, isDeleted) => host.end(active, isDeleted),
      deliver: async () => {},
      runtime: systemRuntime,
      log: silentLog,
      ...{ every: 5, olderThan: 0 },
    });
    sweeper.start();
    await host.activate(ACTOR);
    await until(() => record.read(ACTOR).events.length === 5, "all steps", 20_000);
    expect(outages).toBe(0);
    expect(activations).toBe(3);
    await host.drain();
  });
});
