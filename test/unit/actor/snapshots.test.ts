import { describe, expect, it } from "vitest";
import { ActorHost } from "../../../src/actor/host.ts";
import { silentLog } from "../../../src/base/log.ts";
import { partitionOf } from "../../../src/base/partition.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { adding, addUp, type Sum } from "../../support/adding-actor.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";

async function withSnapshot(): Promise<MemoryJournal<number, never>> {
  const journal = new MemoryJournal<number, never>();
  journal.create("a");
  const first = await addUp("a", { journal });
  await first.ask(1, "one");
  await first.ask(2, "two");
  await first.drain();
  return journal;
}

describe("snapshots", () => {
  it("snapshots: one that cannot be read is left aside, as the events are there", async () => {
    const journal = await withSnapshot();
    const behaviour: typeof adding = {
      ...adding,
      unpack: () => {
        throw new Error("written by nobody knows whom");
      },
    };
    const second = await addUp("a", { journal, behaviour });
    expect(await second.ask(3, "three")).toBe(6);
    await second.stop();
  });

  it("snapshots: one of another shape is found out by the events after it", async () => {
    const journal = await withSnapshot();
    const third = await addUp("a", { journal });
    await third.ask(3, "three");
    await third.stop();
    const behaviour: typeof adding = {
      ...adding,
      unpack: () => JSON.parse('{"steps":"none"}') as Sum,
      apply(state, event, at) {
        if (state.steps !== undefined && !Array.isArray(state.steps)) throw new TypeError("steps");
        adding.apply(state, event, at);
      },
    };
    const fourth = await addUp("a", { journal, behaviour });
    expect(await fourth.ask(4, "four")).toBe(10);
    await fourth.stop();
  });

  it("snapshots: a record that cannot be replayed is said once, with its session", async () => {
    const journal = new MemoryJournal<number, never>();
    const [broken, whole] = ["a", "b"];
    for (const id of [broken, whole]) {
      journal.create(id);
      const first = await addUp(id, { journal });
      await first.ask(id === broken ? 13 : 1, "one");
      await first.stop();
    }
    const said: object[] = [];
    const log = {
      ...silentLog,
      child: () => log,
      error: (fields: object, message: string) => void said.push({ ...fields, message }),
    };
    const host = new ActorHost<Sum, number, never, number>({
      activation: {
        behaviour: {
          ...adding,
          apply(state, event, at) {
            if (event === 13) throw new TypeError("unlucky");
            adding.apply(state, event, at);
          },
        },
        journal,
        createEffects: () => [],
        runtime: systemRuntime,
        log,
        mailboxCapacity: 10,
        batchSize: 10,
        snapshotEvery: 100,
        appendAttempts: 1,
      },
      maxActivations: 10,
      passivateAfter: 60_000,
      sweepEvery: 60_000,
    });
    for (const id of [broken, whole]) host.own(partitionOf(id));
    for (let n = 0; n < 3; n += 1) {
      await expect(host.activate(broken)).rejects.toMatchObject({ code: "internal" });
    }
    expect(await host.deliver(whole, 2, "two")).toBe(3);
    expect(said).toMatchObject([{ session_id: broken, message: "session cannot be loaded" }]);
    await host.drain();
  });
});
