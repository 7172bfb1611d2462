import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PlanFixture } from "../support/plan-fixture.ts";
import { isWasteful } from "../support/plan-recorder.ts";
import { createTestDatabase, superuserUrl } from "../support/postgres.ts";
import { RUNNING_STORES } from "../support/running-stores.ts";
import { beginningsOf } from "../support/store-statements.ts";
import { until } from "../support/until.ts";

describe("plans of statements, in a database of many sessions", () => {
  let fixture: PlanFixture;
  beforeAll(async () => {
    const database = await createTestDatabase();
    const adminUrl = superuserUrl(database);
    fixture = await PlanFixture.open(
      { database, adminUrl },
      { sessions: 1_000, chunks: 100, commands: 5_000 },
    );
  });
  afterAll(() => fixture?.close());

  it("plans: no statement reads much to throw it away, nor a growing table from end to end", async () => {
    await Promise.all([fixture.live(), fixture.stream()]);
    await fixture.askEverything();
    await fixture.askLists();
    const unseen = (): string[] => {
      const texts = fixture.recorder.statements.map(({ text }) => text);
      const ran = (beginning: string) => texts.some((text) => text.includes(beginning));
      return RUNNING_STORES.filter((name) => !beginningsOf(name).some(ran));
    };
    await until(() => unseen().length === 0, "every store to be asked", 20_000).catch(() => {});
    expect(unseen()).toEqual([]);
    const wasteful = fixture.recorder.statements.filter(isWasteful);
    expect(wasteful.map(({ text, verdict }) => ({ ...verdict, text }))).toEqual([]);
    expect(fixture.recorder.statements.length).toBeGreaterThan(200);
  });
});
