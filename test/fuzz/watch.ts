import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { scrapeQueues } from "../support/scraped-metrics.ts";
import type { WholeService } from "../support/whole-service.ts";

/** How long places and memory may take to come back once nothing is asked any more. */
const SETTLE_MS = 120_000;
/**
 * Audio that waits for the worker. Sessions beyond its capacity get a place there one after another,
 * each of which lasts until its audio is read and 20 s more, so a long run leaves minutes of work.
 */
const BACKLOG: ReadonlySet<string> = new Set(["audio_ahead_samples", "stream_pieces_held"]);
/** How long the backlog may take while it moves at least once in the time to settle. */
const BACKLOG_MS = 900_000;
/** Sessions in memory: those that are recorded stay there. */
const NO_PLACES: ReadonlySet<string> = new Set(["activations"]);
/** What a process may have grown by, for caches, pools and the heap's own slack. */
const GROWTH_MIB = 300;
/** How long the event loop of a process may stand still at a time, seconds. */
const MOST_STANDSTILL = 1;
const LAG = "nodejs_eventloop_lag_max_seconds";
const PAGE_BYTES = 4_096;
const MIB = 1_048_576;

interface Watched {
  pids: Record<string, number>;
  memory: Record<string, number>;
  queues: Map<string, number>;
  /** The longest that the event loop stood still since it was last asked, seconds. */
  standstill: number;
}

/** Something that was not given back. */
interface Left {
  /** Empty when it is memory. */
  queue: string;
  /** In the queue's unit, or MiB. */
  length: number;
  reason: string;
}

/** Sees what no single answer shows: processes, memory, places, logs. */
export class ServiceWatch {
  readonly #service: WholeService;
  readonly #before: Watched;
  readonly #report: (reason: string) => void;
  #standstill = 0;

  private constructor(service: WholeService, before: Watched, report: (reason: string) => void) {
    this.#service = service;
    this.#before = before;
    this.#report = report;
  }

  static async start(
    service: WholeService,
    report: (reason: string) => void,
  ): Promise<ServiceWatch> {
    return new ServiceWatch(service, await look(service), report);
  }

  /** The memory of our processes, in words. */
  get memory(): string {
    const now = memoryOf(this.#service.ready.pids);
    return Object.entries(now)
      .map(
        ([part, mib]) => `${part} ${this.#before.memory[part]?.toFixed(0)} → ${mib.toFixed(0)} MiB`,
      )
      .join(", ");
  }

  /** The longest that the event loop of the service stood still so far, in words. */
  get standstill(): string {
    return `the event loop stood still for ${(this.#standstill * 1_000).toFixed(0)} ms at most`;
  }

  /** True while every process is the one of the start; tells of those that are not. */
  checkProcesses(): boolean {
    const pids: Readonly<Record<string, number>> = this.#service.ready.pids;
    const others = Object.entries(this.#before.pids).filter(([part, pid]) => pids[part] !== pid);
    for (const [part, pid] of others) this.#report(`${part} (${pid}) died during the run`);
    return others.length === 0;
  }

  /** To be called when nothing is asked any more; waits until all has come back, or is told of. */
  async finish(): Promise<void> {
    const began = performance.now();
    const left = await this.#settle();
    const after = `${((performance.now() - began) / 1_000).toFixed(0)} s after the end`;
    for (const { reason } of left) this.#report(`${reason}, ${after}`);
    if (left.length > 0) await this.#printQueues();
    else console.log(`all was given back ${after}`);
    if (!(this.#standstill < MOST_STANDSTILL)) this.#report(this.standstill);
    this.checkProcesses();
    this.#readLogs();
  }

  async #look(): Promise<Watched> {
    const now = await look(this.#service);
    this.#standstill = Math.max(this.#standstill, now.standstill);
    return now;
  }

  /** Waits until all has come back, or does not; returns what is left. */
  async #settle(): Promise<Left[]> {
    const end = performance.now() + BACKLOG_MS;
    let deadline = performance.now() + SETTLE_MS;
    let seen = "";
    let left = await this.#left();
    while (left.length > 0 && performance.now() < deadline) {
      await pause(2_000);
      const held = await this.#left();
      // A place that was free once has been given back.
      left = left.filter(({ reason }) => held.some((each) => each.reason === reason));
      const backlog = held.filter(({ queue }) => BACKLOG.has(queue));
      const figures = backlog.map(({ length }) => length).join();
      if (figures === seen || !left.every(({ queue }) => BACKLOG.has(queue))) continue;
      seen = figures;
      deadline = Math.min(end, performance.now() + SETTLE_MS);
    }
    return left;
  }

  async #left(): Promise<Left[]> {
    const { queues, memory } = await this.#look();
    const held = [...queues]
      .filter(([name]) => !NO_PLACES.has(name))
      .filter(([name, length]) => length > (this.#before.queues.get(name) ?? 0))
      .map(([queue, length]) => {
        return { queue, length, reason: `places of the queue ${queue} are not given back` };
      });
    const grown = Object.entries(memory)
      .filter(([part, mib]) => mib > (this.#before.memory[part] ?? 0) + GROWTH_MIB)
      .map(([part, length]) => ({
        queue: "",
        length,
        reason: `the memory of ${part} grew by more than ${GROWTH_MIB} MiB`,
      }));
    return [...held, ...grown];
  }

  async #printQueues(): Promise<void> {
    const { queues } = await this.#look();
    const used = [...queues].filter(([, length]) => length > 0);
    console.log(`held: ${used.map((each) => each.join(" ")).join(", ")}`);
  }

  /** Lines of level error and above. */
  #readLogs(): void {
    const folder = join(this.#service.folder, "data/logs");
    for (const file of readdirSync(folder).filter((name) => name.includes(".log"))) {
      for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
        if (isError(line)) this.#report(`${file}: ${withoutTimes(line)}`);
      }
    }
  }
}

function isError(line: string): boolean {
  if (/\b(FATAL|PANIC):/.test(line)) return true;
  return /"level":"?(error|fatal|50|60)\b/.test(line);
}

function withoutTimes(line: string): string {
  return line.replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "…").replaceAll(/"pid":\d+/g, "");
}

async function look(service: WholeService): Promise<Watched> {
  const { pids, ops_url } = service.ready;
  const { text, queues } = await scrapeQueues(ops_url);
  return {
    pids: { ...pids },
    memory: memoryOf(pids),
    queues: new Map([...queues].map(([name, { length }]) => [name, length])),
    standstill: Number(new RegExp(`^${LAG} (\\S+)$`, "m").exec(text)?.[1]),
  };
}

/** Resident memory in MiB; PostgreSQL, whose processes share theirs, is left out. */
function memoryOf(pids: Record<string, number>): Record<string, number> {
  const own = Object.entries(pids).filter(([part, pid]) => part !== "postgres" && pid !== null);
  return Object.fromEntries(own.map(([part, pid]) => [part, residentOf(pid)]));
}

function residentOf(pid: number): number {
  try {
    const [, pages = 0] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ").map(Number);
    return (pages * PAGE_BYTES) / MIB;
  } catch {
    return 0;
  }
}
