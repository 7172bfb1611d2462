import { describe, expect, it, vi } from "vitest";
import type { EffectsContext } from "../../../src/actor/actor.ts";
import { adding, addUp } from "../../support/adding-actor.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";

/** Changes the state before it fails. */
const POISON = 99;

const behaviour: typeof adding = {
  ...adding,
  decide(state, command, now) {
    const decision = adding.decide(state, command, now);
    if (command === POISON) throw new TypeError("Cannot read properties of undefined");
    return decision;
  },
};

describe("poisoned command", () => {
  function open() {
    const journal = new MemoryJournal<number, never>();
    journal.create("a");
    const stop = vi.fn(async () => {});
    const told: EffectsContext<number>[] = [];
    const failed: string[] = [];
    const parts = {
      behaviour,
      journal,
      createEffects: (context: EffectsContext<number>) => {
        told.push(context);
        return [{ start: () => {}, after: () => {}, busy: () => false, stop }];
      },
      onFailed: (_id: string, error: { code: string }) => void failed.push(error.code),
    };
    const events = () => journal.read("a").events.map(({ event }) => event);
    return { journal, parts, stop, told, failed, events };
  }

  it("poisoned command: it alone fails, and neither its mates nor the effects feel it", async () => {
    const { journal, parts, stop, events } = open();
    const actor = await addUp("a", parts);
    const answers = await Promise.allSettled([
      actor.ask(1, "one"),
      actor.ask(POISON, "poison"),
      actor.ask(2, "two"),
    ]);
    expect(answers).toMatchObject([
      { status: "fulfilled", value: 1 },
      { status: "rejected", reason: { code: "internal" } },
      { status: "fulfilled", value: 3 },
    ]);
    expect(events()).toEqual([1, 2]);
    // It stays on record as not carried out.
    expect([...journal.read("a").finished]).toEqual(["one", "two"]);
    // What it had changed is gone.
    expect(await actor.ask(4, "four")).toBe(7);
    expect(journal.read("a").epoch).toBe(1);
    expect(stop).not.toHaveBeenCalled();
    await actor.stop();
  });

  it("poisoned command: alone in its turn, it leaves the state as it was", async () => {
    const { parts, events } = open();
    const actor = await addUp("a", parts);
    await actor.ask(1, "one");
    await expect(actor.ask(POISON, "poison")).rejects.toMatchObject({ code: "internal" });
    expect(await actor.ask(2, "two")).toBe(3);
    expect(events()).toEqual([1, 2]);
    await actor.stop();
  });

  it("poisoned command: one that the effects told begins them anew, when its mates are safe", async () => {
    const { parts, stop, told, failed, events } = open();
    const actor = await addUp("a", parts);
    told[0]?.send(POISON);
    expect(await actor.ask(1, "one")).toBe(1);
    await vi.waitFor(() => expect(failed).toEqual(["internal"]));
    expect(events()).toEqual([1]);
    expect(stop).toHaveBeenCalledOnce();
  });
});
