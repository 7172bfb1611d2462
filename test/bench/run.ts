/**
 * `npm run bench`: speed and scale beside what others offer, in one run; prints a table and writes
 * out/bench.json. Ends with 0 whatever it finds. `--help` shows the options.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "../eval/machine.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { measureActors } from "./actors.ts";
import { measureAppends } from "./appends.ts";
import { describePeers, printBench, printRows } from "./bench-report.ts";
import { measureCapacity } from "./capacity.ts";
import { measureCheckpoints } from "./checkpoints.ts";
import { measureFanout } from "./fanout.ts";
import { measureFound } from "./found.ts";
import { measureGrowth } from "./growth.ts";
import { measureHeartbeatRow } from "./heartbeat-row.ts";
import { measureHop } from "./hop.ts";
import { measureHungry } from "./hungry.ts";
import { measureIdle } from "./idle.ts";
import { measureIdleViewers } from "./idle-viewers.ts";
import { measureLatency } from "./latency.ts";
import { measurePage } from "./page.ts";
import { measurePlans } from "./plans.ts";
import { measureRest } from "./rest.ts";
import { measureRetention } from "./retention.ts";
import { type BenchRow, type BenchScale, FULL, QUICK } from "./row.ts";
import { measureSegments } from "./segments-written.ts";
import { measureShares } from "./shares.ts";
import { measureStreamsWal } from "./streams-wal.ts";
import { measureTakeoverRow } from "./takeover-row.ts";
import { measureUploads } from "./uploads.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

/** In the order of the table; each names what it is held against in its rows. */
const MEASUREMENTS: Readonly<Record<string, (scale: BenchScale) => Promise<BenchRow[]>>> = {
  fanout: measureFanout,
  rest: measureRest,
  memory: measureIdleViewers,
  uploads: measureUploads,
  segments: measureSegments,
  checkpoint: measureCheckpoints,
  actors: measureActors,
  appends: measureAppends,
  hop: measureHop,
  latency: measureLatency,
  heartbeats: measureHeartbeatRow,
  takeover: measureTakeoverRow,
};

/** Only when named: they take minutes, and most of them fill databases. */
const ON_DEMAND: typeof MEASUREMENTS = {
  capacity: measureCapacity,
  plans: measurePlans,
  growth: measureGrowth,
  idle: measureIdle,
  hungry: measureHungry,
  found: measureFound,
  retention: measureRetention,
  shares: measureShares,
  page: measurePage,
  "streams-wal": measureStreamsWal,
};
const ALL: typeof MEASUREMENTS = { ...MEASUREMENTS, ...ON_DEMAND };

const HELP = `npm run bench -- [names] [options]
  names         of: ${Object.keys(MEASUREMENTS).join(" ")} (all unless given);
                only when named: ${Object.keys(ON_DEMAND).join(" ")} (10^7 chunks, 10 GB, minutes);
                capacity: live streams, one more after the other, until they lag (10 minutes);
                growth takes half an hour, BENCH_GROWTH=length,open,chunks some of it;
                idle: what a whole installation costs at rest, on a machine that is quiet;
                hungry: what neighbours notice of slow and hungry clients
                found: one's own sessions among 10,000, by id, tag and metadata
                retention: sessions that are erased in an hour, 2,000 of them
                shares: what a tenant notices of another one that asks from 50 workspaces,
                BENCH_SHARES=file,question some of it
                page: a transcript of three hours in a real browser
                streams-wal: write-ahead log and acknowledgements of 10, 50 and 200 streams
  --figures     writes what is measured into test/figures.md, a section for each name
  --quick       fewer and shorter rounds
  --profile     CPU profiles of our processes in DIR/profiles; latency tells what they say
  --out DIR     where bench.json goes (default: out)`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    out: { type: "string", default: join(PROJECT, "out") },
    help: { type: "boolean", default: false },
  },
});

const unknown = positionals.filter((name) => ALL[name] === undefined);
if (options.help) console.log(HELP);
else if (unknown.length > 0) {
  console.error(`nothing here is called ${unknown.join(", ")}\n${HELP}`);
  process.exitCode = 2;
} else {
  await bench();
  process.exit(0);
}

async function bench(): Promise<void> {
  mkdirSync(options.out, { recursive: true });
  if (options.profile) process.env.BENCH_PROFILE ??= resolve(options.out, "profiles");
  const names = positionals.length > 0 ? positionals : Object.keys(MEASUREMENTS);
  const scale = options.quick ? QUICK : FULL;
  const report = {
    made_at: new Date().toISOString(),
    machine: { ...describeMachine(PROJECT, undefined), ...describePeers(PROJECT) },
    load_before: loadavg()[0] ?? 0,
    rounds: scale.rounds,
    rows: [] as BenchRow[],
    left_out: [] as string[],
  };
  for (const name of names) {
    process.stderr.write(`${name}\n`);
    try {
      const rows = (await ALL[name]?.(scale)) ?? [];
      report.rows.push(...rows);
      const command = `npm run bench -- ${name}${options.quick ? " --quick" : ""}`;
      recordFigures(printRows(rows), command);
    } catch (error) {
      report.left_out.push(`${name}: ${error instanceof Error ? error.stack : error}`);
    }
  }
  const file = join(options.out, "bench.json");
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`${printBench(report)}\n\nwritten to ${file}`);
}
