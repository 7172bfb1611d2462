import { SERVICE_ROLE } from "../../deploy/supervisor/postgres/roles.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { PlanFixture } from "../support/plan-fixture.ts";
import { isWasteful, type RecordedStatement } from "../support/plan-recorder.ts";
import { startPostgres } from "../support/postgres.ts";
import type { BenchRow, BenchScale } from "./row.ts";

/** Chunks of each session; 10,000 sessions make 10^7 rows. */
const CHUNKS = 1_000;
const SESSIONS = 10_000;
const NAMED = 8;

/** What PostgreSQL does for a session's life beside many that were recorded before. */
export async function measurePlans({ size }: BenchScale): Promise<BenchRow[]> {
  const sessions = Math.round(SESSIONS * size);
  const postgres = await startPostgres({ durable: true });
  try {
    const database = await postgres.createEmptyDatabase();
    await migrate(database.ownerUrl, { serviceRole: SERVICE_ROLE });
    const adminUrl = new URL(postgres.adminUrl);
    adminUrl.pathname = new URL(database.serviceUrl).pathname;
    const filling = performance.now();
    const fixture = await PlanFixture.open(
      { database, adminUrl: adminUrl.href },
      { sessions, chunks: CHUNKS, commands: 20_000 },
    );
    const seconds = Math.round((performance.now() - filling) / 1_000);
    try {
      await Promise.all([fixture.live(), fixture.stream()]);
      await fixture.askEverything();
      return toRows(
        fixture.recorder.statements,
        `${sessions * CHUNKS} chunks, filled in ${seconds} s`,
      );
    } finally {
      await fixture.close();
    }
  } finally {
    await postgres.stop();
  }
}

function toRows(statements: readonly RecordedStatement[], population: string): BenchRow[] {
  const wasteful = statements.filter(isWasteful);
  const slowest = [...statements].sort((a, b) => b.ms - a.ms);
  return [
    {
      figure: "statements that read much to throw it away",
      unit: `of ${statements.length}`,
      ours: wasteful.length,
      mark: "0",
      met: wasteful.length === 0,
      detail: `${population}; ${wasteful.map(describe).join("; ") || "none reads a growing table from end to end"}`,
    },
    {
      figure: "slowest statement of a session's life",
      unit: "ms",
      ours: slowest[0]?.ms ?? 0,
      mark: "",
      detail: slowest.slice(0, NAMED).map(describe).join("; "),
    },
  ];
}

function describe({ text, ms, runs, verdict }: RecordedStatement): string {
  const { removed, returned } = verdict;
  return `${ms.toFixed(1)} ms, ${removed} thrown away for ${returned}, ${runs} runs: ${text.slice(0, 100)}`;
}
