import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const cores = Math.max(1, availableParallelism());
const servers = ["test/support/global-setup.ts"];

/** One project per stage of `npm test`; those with servers get one PostgreSQL and one NATS. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: cores,
        },
      },
      {
        test: {
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          globalSetup: servers,
          testTimeout: 30_000,
          hookTimeout: 60_000,
          maxWorkers: Math.min(2, cores),
        },
      },
      {
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          globalSetup: servers,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: Math.min(2, cores),
        },
      },
      {
        test: {
          name: "attacks",
          include: ["test/attacks/**/*.test.ts"],
          globalSetup: servers,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: Math.min(2, cores),
        },
      },
      {
        test: {
          name: "sim",
          include: ["test/sim/**/*.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 60_000,
          maxWorkers: cores,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 300_000,
          maxWorkers: Math.min(2, cores),
        },
      },
    ],
  },
});
