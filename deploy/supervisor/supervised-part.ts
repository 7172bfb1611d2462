import { type ChildProcess, spawn } from "node:child_process";
import { StepError } from "../setup/step-error.mjs";
import { HealthWatch } from "./health-watch.ts";
import { LogFile } from "./log-file.ts";
import type { Part, ReadyFacts } from "./part.ts";
import { quoteLog } from "./quote-log.ts";
import { RestartDelay } from "./restart-delay.ts";

const PROBE_EVERY_MS = 100;
const KILL_WAIT_MS = 500;
const FIRST_STARTS = 4;

/** Told to the supervisor. Nothing of it throws. */
export interface PartEvents {
  spawned(name: string, pid: number): void;
  ended(name: string): void;
  /** The part died by itself and is started again after `delayMs`. */
  died(part: Part, how: string, delayMs: number, recent: string[]): void;
  /** Ready again after it had died. */
  recovered(part: Part, facts: ReadyFacts, tookMs: number): void;
  logged(part: Part, line: string): void;
}

type Stage = "idle" | "starting" | "ready" | "waiting" | "stopping";

/**
 * Starts a part, waits until it is ready, and starts it again whenever it dies:
 * idle → starting → ready → (death) → waiting → starting → … → stopping → idle.
 * Children get their own process group: a Ctrl-C in the terminal reaches the supervisor alone,
 * which stops them in order.
 */
export class SupervisedPart {
  readonly part: Part;
  readonly #events: PartEvents;
  readonly #log: LogFile;
  readonly #delay = new RestartDelay();
  #stage: Stage = "idle";
  #child: ChildProcess | undefined;
  #exited: Promise<string> = Promise.resolve("never started");
  #facts: ReadyFacts = {};
  #announced: ((facts: ReadyFacts) => void) | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #brokenSince = 0;
  #watch: HealthWatch | undefined;
  #sick = false;
  #endedBySignal = false;
  #stopped = false;

  constructor(part: Part, events: PartEvents) {
    this.part = part;
    this.#events = events;
    this.#log = new LogFile(part.logFile, (line) => this.#takeLine(line));
  }

  get facts(): ReadyFacts {
    return this.#facts;
  }

  get pid(): number | undefined {
    return this.#stage === "ready" ? this.#child?.pid : undefined;
  }

  /**
   * The first start: fails with a StepError when the part ends or is not ready in time. One that
   * a signal ended (it ran out of memory, say) is tried again a few times; one that ended by
   * itself has said what is wrong.
   */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#launch();
      } catch (error) {
        const retried = this.#endedBySignal && attempt < FIRST_STARTS;
        if (retried && (await this.#waitForRetry(error))) continue;
        await this.stop();
        throw error;
      }
    }
  }

  /** False when it is to stop instead. */
  async #waitForRetry(error: unknown): Promise<boolean> {
    if (this.#stopped) return false;
    const delayMs = this.#delay.next();
    this.#events.died(this.part, errorMessage(error), delayMs, this.#log.recent(3));
    await new Promise((wake) => setTimeout(wake, delayMs));
    return !this.#hasStopped();
  }

  #hasStopped(): boolean {
    return this.#stopped;
  }

  /** Ends it for good, with SIGKILL at the end of the ladder. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stage = "stopping";
    await this.#end();
    this.#stage = "idle";
  }

  /**
   * Ends it and starts it again, as its program has changed. Throws a StepError when it does not get
   * ready; it is then ended, until the next call.
   */
  async restart(): Promise<void> {
    if (this.#stopped) return;
    // A part that ends while it waits is not started again by itself.
    this.#stage = "waiting";
    await this.#end();
    if (this.#stopped) return;
    try {
      await this.#launch();
    } catch (error) {
      if (this.#hasStopped()) return;
      this.#stage = "waiting";
      await this.#end();
      throw error;
    }
  }

  /** Sends it a signal that does not end it; a part that is not running needs none. */
  signal(signal: NodeJS.Signals): void {
    if (this.#stage === "ready") this.#child?.kill(signal);
  }

  async #end(): Promise<void> {
    clearTimeout(this.#restartTimer);
    this.#watch?.stop();
    for (const { signal, waitMs } of this.part.stop) {
      if (await this.#signal(signal, waitMs)) break;
    }
    await this.#signal("SIGKILL", KILL_WAIT_MS);
  }

  close(): void {
    this.#log.close();
  }

  /** Kills it at once; used when a second Ctrl-C asks for it. */
  killNow(): void {
    this.#stopped = true;
    this.#stage = "stopping";
    this.#child?.kill("SIGKILL");
  }

  async #launch(): Promise<void> {
    if (this.#stage === "stopping") return;
    this.#stage = "starting";
    const announced = new Promise<ReadyFacts>((settle) => {
      this.#announced = settle;
    });
    this.#spawn();
    this.#facts = await this.#waitUntilReady(announced);
    if (!this.#child) throw this.#failure("ended just when it was ready");
    this.#delay.healthy();
    if (this.#stage !== "starting") return;
    this.#stage = "ready";
    this.#watchHealth();
  }

  #watchHealth(): void {
    const { isHealthy } = this.part;
    if (!isHealthy) return;
    const kill = () => {
      this.#sick = true;
      this.#child?.kill("SIGKILL");
    };
    this.#watch = new HealthWatch(() => isHealthy(), kill);
  }

  #spawn(): void {
    const { program, args, env, cwd, uid, gid } = this.part.launch();
    const child = spawn(program, args, {
      cwd,
      env,
      uid,
      gid,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.#endedBySignal = false;
    if (child.pid !== undefined) this.#events.spawned(this.part.name, child.pid);
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => this.#log.write(chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => this.#log.write(chunk));
    this.#exited = new Promise((settle) => {
      child.once("error", (error) => settle(`cannot be started: ${error.message}`));
      child.once("exit", (code, signal) => {
        this.#endedBySignal = signal !== null;
        settle(describeExit(code, signal));
      });
    });
    void this.#exited.then((how) => this.#onExit(how));
  }

  async #waitUntilReady(announced: Promise<ReadyFacts>): Promise<ReadyFacts> {
    const giveUp = new AbortController();
    const died = this.#exited.then((how): never => {
      throw this.#failure(how);
    });
    const late = rejectAfter(this.part.readyTimeoutMs, giveUp.signal, () =>
      this.#failure(`was not ready within ${this.part.readyTimeoutMs / 1000} s`),
    );
    const ready = this.part.probe ? this.#probe(this.part.probe, giveUp.signal) : announced;
    try {
      return await Promise.race([ready, died, late]);
    } finally {
      giveUp.abort();
    }
  }

  async #probe(probe: NonNullable<Part["probe"]>, signal: AbortSignal): Promise<ReadyFacts> {
    while (!signal.aborted) {
      const facts = await probe();
      if (facts) return facts;
      await new Promise((wake) => setTimeout(wake, PROBE_EVERY_MS));
    }
    return {};
  }

  #onExit(how: string): void {
    const wasReady = this.#stage === "ready";
    const reason = this.#sick ? "ran but no longer answered" : how;
    this.#sick = false;
    this.#watch?.stop();
    this.#child = undefined;
    this.#events.ended(this.part.name);
    if (wasReady) this.#scheduleRestart(reason);
  }

  #scheduleRestart(how: string): void {
    if (this.#stage === "stopping") return;
    if (this.#stage !== "waiting") this.#brokenSince ||= performance.now();
    this.#stage = "waiting";
    const delayMs = this.#delay.next();
    this.#events.died(this.part, how, delayMs, this.#log.recent(3));
    this.#restartTimer = setTimeout(() => void this.#restart(), delayMs);
  }

  async #restart(): Promise<void> {
    try {
      await this.#launch();
      if (this.#stage !== "ready") return;
      const tookMs = performance.now() - this.#brokenSince;
      this.#brokenSince = 0;
      this.#events.recovered(this.part, this.#facts, tookMs);
    } catch (error) {
      if (this.#stage === "stopping") return;
      // one that hangs instead of dying has to go before its successor comes
      await this.#signal("SIGKILL", KILL_WAIT_MS);
      this.#scheduleRestart(errorMessage(error));
    }
  }

  /** True when the part is gone. */
  async #signal(signal: NodeJS.Signals, waitMs: number): Promise<boolean> {
    const child = this.#child;
    if (!child?.pid) return true;
    child.kill(signal);
    const giveUp = new AbortController();
    const late = new Promise<boolean>((settle) => {
      const timer = setTimeout(() => settle(false), waitMs);
      giveUp.signal.addEventListener("abort", () => clearTimeout(timer));
    });
    const gone = await Promise.race([this.#exited.then(() => true), late]);
    giveUp.abort();
    return gone;
  }

  #takeLine(line: string): void {
    if (this.#stage === "starting" && this.#announced) {
      const facts = readReadyLine(line);
      if (facts) this.#announced(facts);
    }
    this.#events.logged(this.part, line);
  }

  #failure(how: string): StepError {
    return new StepError(
      `${this.part.title} ${how}${quoteLog(this.#log.recent(6))}`,
      `its log is ${this.part.logFile}`,
    );
  }
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readReadyLine(line: string): ReadyFacts | undefined {
  if (!line.includes('"ready"')) return undefined;
  try {
    const content: Record<string, unknown> = JSON.parse(line);
    return content.event === "ready" ? content : undefined;
  } catch {
    return undefined;
  }
}

function rejectAfter(ms: number, signal: AbortSignal, error: () => Error): Promise<never> {
  return new Promise((_, refuse) => {
    const timer = setTimeout(() => refuse(error()), ms);
    signal.addEventListener("abort", () => clearTimeout(timer));
  });
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  return signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
}
