import { describe, expect, it } from "vitest";
import { addUp } from "../../support/adding-actor.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";

describe("late wish", () => {
  function open() {
    const time = { now: 1_000 };
    const record = new MemoryJournal<number, never>({ now: () => time.now });
    record.create("a");
    const events = () => record.read("a").events.map(({ event }) => event);
    return { time, record, events };
  }

  it("late wish: one that comes past its deadline is not carried out, and may be asked anew", async () => {
    const { time, record, events } = open();
    const actor = await addUp("a", { journal: record });
    time.now = 5_000;
    await actor.ask(1, "one");
    await expect(actor.ask(7, "wish", 4_999)).rejects.toMatchObject({ code: "too_late" });
    expect(events()).toEqual([1]);
    expect(await actor.ask(7, "wish", 9_999)).toBe(8);
    // What was done is told, however late it is asked.
    expect(await actor.ask(7, "wish", 4_999)).toBe(8);
    expect(events()).toEqual([1, 7]);
    await actor.stop();
  });

  it("late wish: one whose time ends before it is durable costs its mates nothing", async () => {
    const { time, record, events } = open();
    const actor = await addUp("a", {
      journal: {
        activate: (id) => record.activate(id),
        load: (id, from) => record.load(id, from),
        append: (batch) => {
          // The record was away for a while.
          if (time.now === 1_000) time.now = 5_000;
          return record.append(batch);
        },
      },
    });
    const answers = await Promise.allSettled([
      actor.ask(1, "one"),
      actor.ask(7, "x", 2_000),
      actor.ask(2, "two", 6_000),
      actor.ask(7, "y", 3_000),
      actor.ask(4, "four"),
    ]);
    expect(answers).toMatchObject([
      { value: 1 },
      { reason: { code: "too_late" } },
      { value: 3 },
      { reason: { code: "too_late" } },
      { value: 7 },
    ]);
    expect(events()).toEqual([1, 2, 4]);
    expect([...record.read("a").finished]).toEqual(["one", "two", "four"]);
    expect(record.read("a").epoch).toBe(1);
    expect(await actor.ask(8, "eight")).toBe(15);
    await actor.stop();
  });
});
