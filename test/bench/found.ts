import { newId } from "../../src/base/ids.ts";
import { BenchFixture, type BenchUser, type MainProcess } from "./bench-fixture.ts";
import { exactCpuSeconds, familyCpuSeconds } from "./process-cpu.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { quantile } from "./statistics.ts";

const SESSIONS = 10_000;
const REQUESTS = 200;
const MARK_MS = 20;
const NONE: ReadonlySet<number> = new Set();

/** What a program looks for, each of one session or of some. */
const WANTED: readonly [what: string, query: (n: number) => string][] = [
  ["any of them, the newest first", () => ""],
  ["external_id", (n) => `external_id=call-${(n * 37) % SESSIONS}`],
  ["a tag of ten", (n) => `tag=batch-${(n * 7) % (SESSIONS / 10)}`],
  ["a tag of half of them", () => "tag=phone"],
  ["metadata", (n) => `metadata=order%3A${(n * 37) % SESSIONS}`],
  ["sorted by external_id", () => "sort=external_id"],
  ["counted by tag", () => "tag=phone&count=true&limit=1"],
];

/**
 * How long a service key waits for its own things among 10,000 sessions of its workspace and as many
 * of another one with the same tags, one request after the other: the 95th percentile of the processor
 * time of service and database together, and beside it of the time by the clock.
 */
export async function measureFound(scale: BenchScale): Promise<BenchRow[]> {
  const fixture = await BenchFixture.open();
  try {
    const [own, other] = [await fixture.addUser(), await fixture.addUser()];
    const count = Math.max(1_000, Math.round(SESSIONS * scale.size));
    for (const user of [own, other]) await fill(fixture, user, count);
    await fixture.owner.query("analyze");
    const main = await fixture.startMain("front");
    try {
      return await ask(main, await fixture.postgresPid(), own, count);
    } finally {
      await main.stop();
    }
  } finally {
    await fixture.close();
  }
}

function fill({ owner }: BenchFixture, user: BenchUser, count: number): Promise<unknown> {
  return owner.query(
    `insert into sessions (id, workspace_id, owner_id, job_id, title, status, external_id, tags,
       metadata, started_at)
     select gen_random_uuid(), $1, $2, gen_random_uuid(), 'Call ' || n, 'completed', 'call-' || n,
       array['batch-' || n / 10] || case when n % 2 = 0 then array['phone'] else '{}'::text[] end,
       jsonb_build_object('order', n::text, 'customer', 'acme'), now() - n * interval '1 minute'
     from generate_series(0, $3 - 1) n`,
    [user.workspaceId, user.id, count],
  );
}

async function ask(
  main: MainProcess,
  postgres: number,
  user: BenchUser,
  count: number,
): Promise<BenchRow[]> {
  const worked = () => 1_000 * (exactCpuSeconds(main.pid) + familyCpuSeconds(postgres, NONE));
  const base = `http://127.0.0.1:${main.port}/api`;
  const made = await fetch(`${base}/api-keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
    body: JSON.stringify({
      ...{ workspace_id: user.workspaceId, name: newId() },
      scopes: ["sessions:read"],
    }),
  });
  const { key } = (await made.json()) as { key: string };
  const rows: BenchRow[] = [];
  for (const [what, query] of WANTED) {
    const times: number[] = [];
    const work: number[] = [];
    let found = 0;
    for (let n = 0; n < REQUESTS + 20; n += 1) {
      const before = worked();
      const begun = performance.now();
      const answer = await fetch(`${base}/sessions?${query(n)}`, { headers: { "x-api-key": key } });
      const { items } = (await answer.json()) as { items: unknown[] };
      found = items.length;
      // The first ones are of a process that is still warming up.
      if (n < 20) continue;
      times.push(performance.now() - begun);
      work.push(worked() - before);
    }
    const ours = quantile(work, 0.95);
    rows.push({
      figure: `a session found among ${count}: ${what}, processor time, p95`,
      unit: "ms",
      ours,
      mark: `<= ${MARK_MS} ms`,
      met: ours <= MARK_MS && found > 0,
      detail: `${times.length} requests, the last one found ${found}; by the clock ${quantile(times, 0.95).toFixed(1)} ms, median ${quantile(times, 0.5).toFixed(1)} ms`,
    });
  }
  return rows;
}
