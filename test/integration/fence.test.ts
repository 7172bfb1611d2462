import { afterAll, beforeAll, expect, it } from "vitest";
import { runFence } from "../chaos/fence.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database?.drop();
});

it("fence: owners that were stopped past their lease write nothing any more", async () => {
  const result = await runFence({
    rounds: 4,
    databaseUrl: database.serviceUrl,
    ownerUrl: database.ownerUrl,
  });
  expect(result.problems).toEqual([]);
  expect(result.stored).toBeGreaterThan(100);
  // Without refusals nothing was tried.
  expect(result.refused).toBeGreaterThan(0);
}, 300_000);
