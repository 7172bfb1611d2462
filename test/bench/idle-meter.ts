import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import { delay } from "../../src/base/deferred.ts";
import { childrenOf, exactCpuSeconds, familyCpuSeconds, parentOf } from "./process-cpu.ts";

/** What one part of an installation costs while nothing goes on. */
export interface PartCost {
  part: string;
  /** Of one core. */
  cpuPercent: number;
  /** How often one of its threads slept and was woken, per second. */
  wakes: number;
  /** Its share of what it has in memory, and all of that, megabytes. */
  pss: number;
  rss: number;
}

export interface IdleCost {
  parts: PartCost[];
  /** Of one core, of all parts. */
  cpuPercent: number;
  /** That PostgreSQL got, per second, the meter's own left out. */
  statements: number;
  /** The most frequent first. */
  byStatement: { text: string; perSecond: number }[];
}

interface Reading {
  at: number;
  cpu: Map<string, number>;
  wakes: Map<string, number>;
  statements: Map<string, { text: string; calls: number }>;
}

const STATEMENTS = `
  select queryid::text as id, query as text, calls::float8 as calls
  from pg_stat_statements where userid <> current_user::regrole`;
const KB = 1_024;

/** Reads processor time, wake-ups and memory from /proc, and statements over a connection that is not counted. */
export class IdleMeter {
  readonly #admin: pg.Client;
  readonly #own: number;
  /** First process of each part. */
  readonly #parts: Readonly<Record<string, number>>;

  private constructor(admin: pg.Client, own: number, parts: Readonly<Record<string, number>>) {
    this.#admin = admin;
    this.#own = own;
    this.#parts = parts;
  }

  /** `adminUrl`: of a superuser; PostgreSQL has to have pg_stat_statements loaded. */
  static async open(adminUrl: string, parts: Readonly<Record<string, number>>): Promise<IdleMeter> {
    const admin = new pg.Client({ connectionString: adminUrl });
    await admin.connect();
    await admin.query("create extension if not exists pg_stat_statements");
    const { rows } = await admin.query<{ pid: number }>("select pg_backend_pid() as pid");
    return new IdleMeter(admin, rows[0]?.pid ?? 0, parts);
  }

  async close(): Promise<void> {
    await this.#admin.end();
  }

  /** What the next so many seconds cost. */
  async measure(seconds: number): Promise<IdleCost> {
    const before = await this.#read();
    await delay(seconds * 1_000);
    const after = await this.#read();
    const passed = (after.at - before.at) / 1_000;
    const per = (now: Map<string, number>, then: Map<string, number>, part: string) =>
      ((now.get(part) ?? 0) - (then.get(part) ?? 0)) / passed;
    const parts = Object.keys(this.#parts).map((part) => ({
      part,
      cpuPercent: 100 * per(after.cpu, before.cpu, part),
      wakes: per(after.wakes, before.wakes, part),
      ...this.memory(part),
    }));
    const byStatement = [...after.statements]
      .map(([id, { text, calls }]) => ({
        text: text.replace(/\s+/g, " ").trim(),
        perSecond: (calls - (before.statements.get(id)?.calls ?? 0)) / passed,
      }))
      .filter(({ perSecond }) => perSecond > 0)
      .sort((a, b) => b.perSecond - a.perSecond);
    return {
      parts,
      cpuPercent: parts.reduce((sum, { cpuPercent }) => sum + cpuPercent, 0),
      statements: byStatement.reduce((sum, { perSecond }) => sum + perSecond, 0),
      byStatement,
    };
  }

  /** Megabytes of a part with its children, now. */
  memory(part: string): { pss: number; rss: number } {
    const all = this.#family(part).map(memoryOf);
    const sum = (kind: "pss" | "rss") => all.reduce((total, each) => total + each[kind], 0);
    return { pss: sum("pss"), rss: sum("rss") };
  }

  async #read(): Promise<Reading> {
    const { rows } = await this.#admin.query<{ id: string; text: string; calls: number }>(
      STATEMENTS,
    );
    const statements = new Map(rows.map(({ id, ...rest }) => [id, rest]));
    const entries = Object.entries(this.#parts);
    const ours = new Set([this.#own]);
    return {
      at: performance.now(),
      // Children of the supervisor are the other parts.
      cpu: new Map(
        entries.map(([part, pid]) => [
          part,
          part === "postgres" ? familyCpuSeconds(pid, ours) : exactCpuSeconds(pid),
        ]),
      ),
      wakes: new Map(
        entries.map(([part]) => [
          part,
          this.#family(part).reduce((total, pid) => total + wakesOf(pid), 0),
        ]),
      ),
      statements,
    };
  }

  #family(part: string): number[] {
    const pid = this.#parts[part] ?? 0;
    if (part !== "postgres") return [pid];
    return [pid, ...childrenOf(pid).filter((child) => child !== this.#own)];
  }
}

/** Processes above the supervisor that stay for its sake, up to this one's child. */
export function launcherOf(supervisor: number): number | undefined {
  const launcher = parentOf(supervisor);
  return launcher === process.pid || launcher <= 1 ? undefined : launcher;
}

function wakesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
      const text = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
      return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(text)?.[1] ?? 0);
    }, 0);
  } catch {
    return 0;
  }
}

function memoryOf(pid: number): { pss: number; rss: number } {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    const read = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0) / KB;
    return { pss: read("Pss"), rss: read("Rss") };
  } catch {
    return { pss: 0, rss: 0 };
  }
}
