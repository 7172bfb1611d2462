import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { parseArgs } from "node:util";
import { SimPostgres } from "../support/record/sim-postgres.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { MUTANTS } from "./mutants.ts";
import { type Options, type Outcome, simulate } from "./simulation.ts";

const USAGE = `npm run sim -- [--seeds n] [--from s] [--workers n] [--mutant name] [--record kind]

Runs the service on simulated machines, networks and databases, once for each seed.
  --seeds n     how many (20000)
  --from s      the first one (1)
  --workers n   processes that share them (1)
  --mutant x    with a planted bug; "list" names them
  --record x    twin: tables in memory, with PostgreSQL's locks and moods (default);
                sql: the service's own SQL on a PostgreSQL in memory, which is started
                for it; some ten times slower`;

/** How the processes of one run know its PostgreSQL. */
const SERVER = "SIM_POSTGRES";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** One seed as its process tells of it. */
type Told = Pick<Outcome, "seed" | "fingerprint" | "lasted" | "steps" | "story"> & {
  message: string | undefined;
  counts: [string, number][];
};

function readArguments() {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "20000" },
      from: { type: "string", default: "1" },
      workers: { type: "string", default: "1" },
      step: { type: "string" },
      mutant: { type: "string" },
      record: { type: "string", default: "twin" },
      help: { type: "boolean", default: false },
    },
  });
  const isChild = values.step !== undefined;
  const [seeds, from, workers, step] = [
    Number(values.seeds),
    Number(values.from),
    Number(values.workers),
    Number(values.step ?? 1),
  ];
  const isRight = [seeds, from, workers, step].every((n) => Number.isInteger(n) && n >= 1);
  const { record } = values;
  const isKnown = record === "twin" || record === "sql";
  const mutant = MUTANTS.find(({ name }) => name === values.mutant);
  if (values.mutant === "list") console.log(MUTANTS.map(({ name }) => name).join("\n"));
  else if (
    values.help ||
    !isRight ||
    !isKnown ||
    (values.mutant !== undefined && mutant === undefined)
  ) {
    console.error(USAGE);
  } else return { seeds, from, workers, step, isChild, mutant, record };
  process.exit(values.help || values.mutant === "list" ? 0 : 2);
}

type Kind = NonNullable<Options["kind"]>;

async function runSeeds(
  { from, seeds, step, mutant }: ReturnType<typeof readArguments>,
  kind: Kind,
  tell: (told: Told) => void,
): Promise<void> {
  for (let seed = from; seed < from + seeds; seed += step) {
    const { fault, counts, ...rest } = await simulate(seed, { kind, mutant });
    tell({ ...rest, message: fault?.message, counts: [...counts] });
  }
}

const running = new Set<ChildProcess>();

/** Each takes every n-th seed. */
async function runTogether(
  args: ReturnType<typeof readArguments>,
  kind: Kind,
  tell: (told: Told) => void,
): Promise<void> {
  const { from, seeds, workers, mutant, record } = args;
  const server = kind === "twin" ? {} : { [SERVER]: JSON.stringify(kind.sql.place) };
  const planted = mutant === undefined ? [] : ["--mutant", mutant.name];
  const children = Array.from({ length: workers }, async (_, n) => {
    for (let next = from + n; next < from + seeds; next += workers) {
      const own = [
        "--seeds",
        `${from + seeds - next}`,
        "--from",
        `${next}`,
        "--step",
        `${workers}`,
      ];
      const child = fork(import.meta.filename, [...own, ...planted, "--record", record], {
        env: { ...process.env, ...server },
      });
      const { stuck } = await watched(child, { next, step: workers, tell });
      if (stuck === undefined) return;
      tell({ seed: stuck, ...ENDLESS });
      next = stuck;
    }
  });
  await Promise.all(children);
}

/** Longest wait for one seed, milliseconds: some take seconds, on a machine with much else to do. */
const SEED_MS = 300_000;
const ENDLESS: Omit<Told, "seed"> = {
  ...{ fingerprint: "", lasted: 0, steps: 0, story: [], counts: [] },
  message: `it did not come to an end in ${SEED_MS / 1_000} s`,
};

/** Until it has ended; with the seed at which it had to be ended, as that went on for ever. */
async function watched(
  child: ChildProcess,
  { next, step, tell }: { next: number; step: number; tell: (told: Told) => void },
): Promise<{ stuck?: number }> {
  running.add(child);
  let [seed, since, isStuck] = [next, performance.now(), false];
  child.on("message", (told) => {
    [seed, since] = [(told as Told).seed + step, performance.now()];
    tell(told as Told);
  });
  const look = setInterval(() => {
    if (performance.now() - since < SEED_MS) return;
    isStuck = true;
    child.kill("SIGKILL");
  }, 1_000);
  const [code] = await once(child, "exit");
  clearInterval(look);
  running.delete(child);
  if (isStuck) return { stuck: seed };
  if (code !== 0) throw new Error(`A process of the simulation ended with ${code}.`);
  return {};
}

class Summary {
  readonly #total: number;
  readonly #how: string;
  readonly #startedAt = performance.now();
  readonly #counts = new Map<string, { times: number; seeds: number }>();
  readonly #failed: number[] = [];
  #done = 0;
  #virtual = 0;
  #toldAt = 0;

  /** @param how the record that a failed seed is to be repeated with */
  constructor(total: number, how: string) {
    this.#total = total;
    this.#how = how;
  }

  add({ seed, message, counts, lasted, story }: Told): void {
    this.#done += 1;
    this.#virtual += lasted;
    for (const [name, times] of counts) {
      const known = this.#counts.get(name) ?? { times: 0, seeds: 0 };
      this.#counts.set(name, {
        times: known.times + times,
        seeds: known.seeds + Number(times > 0),
      });
    }
    if (message !== undefined) {
      this.#failed.push(seed);
      const lines = this.#failed.length > 3 && this.#total > 1 ? [] : story;
      console.error([`\nseed ${seed}: ${message}`, ...lines].join("\n"));
      console.error(`again: npm run sim -- --seeds 1 --from ${seed}${this.#how}`);
    }
    this.#progress();
  }

  #progress(): void {
    const now = performance.now();
    if (now - this.#toldAt < 1_000) return;
    this.#toldAt = now;
    const line = `${this.#done} of ${this.#total} seeds, ${this.#failed.length} failed`;
    if (process.stderr.isTTY) process.stderr.write(`\r${line}`);
  }

  /** True when no seed failed. */
  end(): boolean {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const hours = this.#virtual / 3_600_000;
    const each = (this.#done / seconds).toFixed(1);
    const sum = `${this.#done} seeds, ${hours.toFixed(1)} simulated hours in ${seconds.toFixed(1)} s (${each} seeds/s), ${this.#failed.length} failed`;
    console.log(`\n${sum}`);
    recordFigures(sum);
    const width = Math.max(0, ...[...this.#counts.keys()].map((name) => name.length));
    for (const [name, { times, seeds }] of [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      console.log(`  ${name.padEnd(width)}  ${times} times in ${seeds} seeds`);
    }
    if (this.#failed.length > 0) console.log(`failed: ${this.#failed.join(" ")}`);
    return this.#failed.length === 0;
  }
}

/** The record's server lives as long as `work`, or until somebody wants an end. */
async function withRecord<T>(
  { record }: ReturnType<typeof readArguments>,
  work: (kind: Kind) => Promise<T>,
): Promise<T> {
  if (record === "twin") return work("twin");
  const told = process.env[SERVER];
  const sql = told === undefined ? await SimPostgres.start() : SimPostgres.at(JSON.parse(told));
  let leaving: Promise<void> | undefined;
  const leave = (): void => {
    for (const child of running) child.kill("SIGKILL");
    leaving ??= sql.stop().finally(() => process.exit(130));
  };
  for (const signal of SIGNALS) process.on(signal, leave);
  try {
    return await work({ sql });
  } finally {
    await (leaving ?? sql.stop());
  }
}

const args = readArguments();
if (args.isChild) {
  process.once("disconnect", () => process.exit(1));
  await withRecord(args, (kind) => runSeeds(args, kind, (told) => void process.send?.(told)));
  process.exit(0);
}
const isGreen = await withRecord(args, async (kind) => {
  const summary = new Summary(args.seeds, args.record === "sql" ? " --record sql" : "");
  const add = (told: Told): void => summary.add(told);
  if (args.workers > 1) await runTogether(args, kind, add);
  else await runSeeds(args, kind, add);
  return summary.end();
});
process.exit(isGreen ? 0 : 1);
