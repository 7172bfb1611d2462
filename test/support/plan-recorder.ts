import pg from "pg";
import { SERVICE_ROLE, withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { judgePlan, type Plan, type PlanVerdict } from "./plan-verdict.ts";
import type { TestDatabase } from "./postgres.ts";

/** What every connection of the service's role says from its start on, in place of the server's log. */
const SETTINGS: Readonly<Record<string, string>> = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_timing": "off",
  "auto_explain.log_nested_statements": "on",
  "auto_explain.log_format": "json",
  "auto_explain.log_level": "notice",
};

/** One statement, however often it ran. */
export interface RecordedStatement {
  text: string;
  runs: number;
  /** Of the run that was worst. */
  verdict: PlanVerdict;
  /** Of the slowest run. */
  ms: number;
}

/**
 * Has PostgreSQL itself tell the plan of every statement that this process runs as the service,
 * with the rows that really went through it: those of functions and triggers too.
 */
export class PlanRecorder {
  readonly #statements = new Map<string, RecordedStatement>();
  readonly #restore: () => void;

  private constructor(restore: () => void) {
    this.#restore = restore;
  }

  /** For connections that are made from now on. `adminUrl`: of a superuser, in this database. */
  static async of(database: TestDatabase, adminUrl: string): Promise<PlanRecorder> {
    const name = new URL(database.serviceUrl).pathname.slice(1);
    await withClient(adminUrl, async (client) => {
      for (const [setting, value] of Object.entries(SETTINGS)) {
        await client.query(
          `alter role ${SERVICE_ROLE} in database ${client.escapeIdentifier(name)}
           set ${setting} = ${client.escapeLiteral(value)}`,
        );
      }
    });
    const { connect } = pg.Client.prototype;
    const recorder = new PlanRecorder(() => {
      pg.Client.prototype.connect = connect;
    });
    pg.Client.prototype.connect = function (this: pg.Client, ...args: unknown[]) {
      if (this.database === name && this.user === SERVICE_ROLE) {
        this.on("notice", ({ message }) => recorder.#hear(message ?? ""));
      }
      return Reflect.apply(connect, this, args);
    } as typeof connect;
    return recorder;
  }

  get statements(): readonly RecordedStatement[] {
    return [...this.#statements.values()];
  }

  stop(): void {
    this.#restore();
  }

  #hear(message: string): void {
    const [, took, json] = /^duration: ([\d.]+) ms\s+plan:\s*(\{.*\})\s*$/s.exec(message) ?? [];
    if (json === undefined) return;
    const told = JSON.parse(json) as { "Query Text": string; Plan: Plan };
    const text = oneLine(told["Query Text"]);
    const verdict = judgePlan(told.Plan);
    const known = this.#statements.get(text);
    const ms = Number(took);
    if (known === undefined) this.#statements.set(text, { text, runs: 1, verdict, ms });
    else {
      known.runs += 1;
      known.ms = Math.max(known.ms, ms);
      if (isWorse(verdict, known.verdict)) known.verdict = verdict;
    }
  }
}

/** As statements are compared: without line breaks, and whatever the numbers of their values. */
export function oneLine(sql: string): string {
  return sql.replace(/\s+/g, " ").trim();
}

function isWorse(one: PlanVerdict, other: PlanVerdict): boolean {
  if (one.scanned.length !== other.scanned.length) return one.scanned.length > other.scanned.length;
  return one.excess > other.excess;
}

/**
 * What people ask for across sessions, and what these statements throw away then: lists of what a
 * person may see go through everything from the newest on until a page is full.
 */
const ACROSS_SESSIONS = [
  // JobStore.list
  /^select j\.id, j\.kind, .* from jobs j join sessions s .* order by j\.id desc/,
  // SearchStore.search: where few sessions are searched it reads all of their segments.
  /^with queries as \( select config, websearch_to_tsquery/,
];

/** It reads a growing table from end to end, or much to throw it away. */
export function isWasteful({ text, verdict }: RecordedStatement): boolean {
  const isAcross = ACROSS_SESSIONS.some((pattern) => pattern.test(text));
  return verdict.scanned.length > 0 || (verdict.excess > 0 && !isAcross);
}
