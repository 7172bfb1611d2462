import { expect, it } from "vitest";
import type { Journal } from "../../../src/actor/journal.ts";
import { AppError } from "../../../src/base/errors.ts";
import { addUp } from "../../support/adding-actor.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";

function losing(record: MemoryJournal<number, never>, times: number) {
  let left = times;
  const journal: Journal<number, never> = {
    activate: (id) => record.activate(id),
    load: (id, from) => record.load(id, from),
    async append(batch) {
      const appended = await record.append(batch);
      if (left <= 0) return appended;
      left -= 1;
      throw new AppError("unavailable", "The answer was lost.");
    },
  };
  return journal;
}

it("lost answer: a commit whose answer was lost is no other owner's", async () => {
  const record = new MemoryJournal<number, never>();
  record.create("a");
  const actor = await addUp("a", { journal: losing(record, 2), appendAttempts: 4 });
  expect(await actor.ask(1, "one")).toBe(1);
  expect(await actor.ask(2, "two")).toBe(3);
  const { epoch, events } = record.read("a");
  expect(epoch).toBe(1);
  expect(events.map(({ event }) => event)).toEqual([1, 2]);
  await actor.stop();
});

it("lost answer: another owner who came meanwhile is one", async () => {
  const record = new MemoryJournal<number, never>();
  record.create("a");
  const journal = losing(record, 1);
  const failed: string[] = [];
  const actor = await addUp("a", {
    journal: {
      ...journal,
      append: (batch) =>
        journal.append(batch).catch(async (error: unknown) => {
          await record.activate("a");
          throw error;
        }),
    },
    appendAttempts: 4,
    onFailed: (_id, error) => void failed.push(error.code),
  });
  await expect(actor.ask(1, "one")).rejects.toMatchObject({ code: "stale_epoch" });
  expect(failed).toEqual(["stale_epoch"]);
});
