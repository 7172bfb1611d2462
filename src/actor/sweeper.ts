import {
  OPEN_WORK_PAGE,
  PARTITIONS_PAGE,
  QUEUE_HEAD,
  QUEUES_PAGE,
} from "../base/backlog-limits.ts";
import { type AppError, errorMessage, isAppError, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime } from "../base/runtime.ts";
import { BackedOffItems } from "../base/work/backed-off-items.ts";
import { PeriodicTask, type PeriodicWork } from "../base/work/periodic-task.ts";
import type { ActiveSession, Backlog, BacklogCommand, CommandQueue } from "./backlog.ts";
import { RECOVERED, RESTART_WAITS, RestartBackoff } from "./restart-backoff.ts";

/** Runs tasks in parallel: at most `width` at a time, and never two under one key. */
class Lanes {
  readonly #width: number;
  readonly #works = new Map<string, Promise<void>>();

  constructor(width: number) {
    this.#width = width;
  }

  /** Starts the task as soon as a lane is free. Does nothing while a task with this key runs. */
  async begin(key: string, work: () => Promise<void>): Promise<void> {
    while (this.#works.size >= this.#width && !this.#works.has(key)) {
      await Promise.race(this.#works.values());
    }
    if (this.#works.has(key)) return;
    const done = work().finally(() => this.#works.delete(key));
    this.#works.set(key, done);
  }

  /** Settles when all started tasks have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#works.values());
  }
}

/** Most sessions that are loaded at the same time; the record takes over as many in one query. */
const LOADED_TOGETHER = 50;
/** Most sessions that receive commands at the same time. */
const SERVED_TOGETHER = 8;
/** Most sessions whose refusals are remembered. */
const MOST_BACKED_OFF = 10_000;
const MOST_REASON = 200;
const TROUBLE = "backlog not readable";
/** Activations are reviewed at this multiple of the interval of the other checks. */
const REVIEW_TICKS = 5;
/** Most activations that are checked with one query. */
const REVIEW_PAGE = 500;

/**
 * Finds work in the record that no message announced: sessions with work in a partition that was
 * just taken, sessions whose activation a fault ended, and commands whose delivery was lost.
 * Because of it nothing depends on the message bus storing anything.
 *
 * It also ends activations that the record no longer knows: one whose session was deleted, and
 * which was not notified, would keep its worker for ever.
 *
 * The four checks run independently, each a bounded page at a time, and continue at once while
 * there is more. Failures do not hold up other work: a session that cannot be loaded is tried again
 * alone, at growing intervals.
 */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #checks: readonly PeriodicTask[];
  #isStopped = false;
  /**
   * Partitions whose sessions with work are still to be activated, and the id up to which that is
   * done.
   */
  readonly #fresh = new Map<number, { after: string | undefined }>();
  /** Partitions whose commands are delivered whatever their age. */
  readonly #hasty = new Set<number>();
  readonly #backoff = new RestartBackoff();
  /** Sessions that refused commands for a temporary reason. */
  readonly #backedOff: BackedOffItems;
  readonly #loading = new Lanes(LOADED_TOGETHER);
  readonly #serving = new Lanes(SERVED_TOGETHER);
  /** A session took a full page of commands, so it may have more. */
  #hasMore = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
    const { every, runtime, log } = options;
    this.#backedOff = new BackedOffItems(runtime, {
      ...{ waits: RESTART_WAITS, most: MOST_BACKED_OFF, forgetMs: RECOVERED },
    });
    const check = (run: PeriodicWork["run"], rarer = 1) =>
      new PeriodicTask({ run, every: rarer * every, trouble: TROUBLE, runtime, log });
    this.#checks = [
      check(() => this.#resume()),
      check(() => this.#revive()),
      check(() => this.#redeliver()),
      check(() => this.#review(), REVIEW_TICKS),
    ];
  }

  start(): void {
    for (const check of this.#checks) check.start();
  }

  /** Checks at once for sessions with work in these partitions, and for their commands. */
  taken(...partitions: readonly number[]): void {
    for (const partition of partitions) {
      this.#fresh.set(partition, { after: undefined });
      this.#hasty.add(partition);
    }
    for (const check of this.#checks) check.wake();
  }

  /** How many sessions' activations a fault ended recently. */
  get relapsed(): number {
    return this.#backoff.size;
  }

  /**
   * Notes that a fault ended this session's activation. The sweeper activates it again, because
   * nothing else may.
   */
  failed(id: string): void {
    this.#backoff.failed(id, this.#options.runtime.monotonic());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#checks.map((check) => check.stop()));
    await Promise.all([this.#loading.idle(), this.#serving.idle()]);
  }

  /** Activates the sessions with work in partitions just taken, a page of each at a time. */
  async #resume(): Promise<number | undefined> {
    const looked = [...this.#fresh].slice(0, PARTITIONS_PAGE);
    if (looked.length === 0) return undefined;
    const found = await this.#options.backlog.openWork(
      looked.map(([partition, { after }]) => ({ partition, after })),
    );
    for (const [partition, place] of looked) {
      const ids = found.filter((each) => each.partition === partition);
      // The partition was taken again meanwhile: it starts from the beginning.
      if (this.#fresh.get(partition) !== place) continue;
      if (ids.length < OPEN_WORK_PAGE) this.#fresh.delete(partition);
      else place.after = ids.at(-1)?.sessionId;
    }
    for (const { sessionId } of found) await this.#load(sessionId);
    return this.#fresh.size > 0 ? 0 : undefined;
  }

  /**
   * Activates failed sessions again, because their work, for example a reading, would else wait for
   * the next command.
   */
  async #revive(): Promise<void> {
    for (const id of this.#backoff.due(this.#options.runtime.monotonic())) await this.#load(id);
  }

  /** Starts to activate a session; a failure delays only this one. */
  async #load(id: string): Promise<void> {
    if (this.#isStopped) return;
    await this.#loading.begin(id, async () => {
      try {
        await this.#options.activate(id);
        this.#backoff.activated(id);
      } catch (error) {
        if (isElsewhere(error) || isAppError(error, "not_found")) this.#backoff.forget(id);
        else this.failed(id);
      }
    });
  }

  /** Checks all activations against the record, a page at a time. */
  async #review(): Promise<void> {
    const { backlog, active, end } = this.#options;
    const all = active();
    for (let at = 0; at < all.length; at += REVIEW_PAGE) {
      const page = all.slice(at, at + REVIEW_PAGE);
      const known = new Map(page.map((each) => [each.id, each]));
      for (const { id, isDeleted } of await backlog.ended(page)) {
        const activation = known.get(id);
        if (activation !== undefined) await end(activation, isDeleted);
      }
    }
  }

  /** Goes once through all sessions with waiting commands. */
  async #redeliver(): Promise<number | undefined> {
    const { backlog, owned, olderThan } = this.#options;
    this.#hasMore = false;
    const hasty = new Set(this.#hasty);
    this.#hasty.clear();
    const waiting = new Set(await backlog.waiting());
    const busy = owned().filter((partition) => waiting.has(partition));
    let places = busy.map((partition) => ({
      partition,
      after: undefined as string | undefined,
      olderThan: hasty.has(partition) ? 0 : olderThan,
    }));
    while (places.length > 0 && !this.#isStopped) {
      const looked = places.slice(0, PARTITIONS_PAGE);
      const found = await backlog.queues(looked);
      for (const queue of found) await this.#serve(queue);
      const unfinished = looked.flatMap((place) => {
        const seen = found.filter(({ partition }) => partition === place.partition);
        return seen.length < QUEUES_PAGE ? [] : [{ ...place, after: seen.at(-1)?.sessionId }];
      });
      places = [...places.slice(PARTITIONS_PAGE), ...unfinished];
    }
    await this.#served();
    return this.#hasMore ? 0 : undefined;
  }

  /** Waits for the deliveries, at most for one interval; slower ones go on in the background. */
  async #served(): Promise<void> {
    const { runtime, every } = this.#options;
    const ended = new AbortController();
    await Promise.race([this.#serving.idle(), runtime.delay(every, ended.signal)]);
    ended.abort();
  }

  async #serve({ sessionId, commands }: CommandQueue): Promise<void> {
    const now = this.#options.runtime.monotonic();
    const isBackingOff =
      this.#backoff.isBackingOff(sessionId, now) || this.#backedOff.isBackingOff(sessionId);
    if (commands.length === 0 || isBackingOff) return;
    await this.#serving.begin(sessionId, () => this.#deliver(sessionId, commands));
  }

  async #deliver(sessionId: string, commands: readonly BacklogCommand[]): Promise<void> {
    const { activate, deliver } = this.#options;
    try {
      await activate(sessionId);
    } catch (error) {
      return this.#refused(sessionId, [{ id: undefined, error }]);
    }
    const settled = await Promise.allSettled(commands.map((command) => deliver(command)));
    const failures = settled.flatMap((each, at) =>
      each.status === "rejected" ? [{ id: commands[at]?.id, error: each.reason as unknown }] : [],
    );
    if (failures.length > 0) return this.#refused(sessionId, failures);
    this.#backedOff.worked(sessionId);
    if (commands.length === QUEUE_HEAD) this.#hasMore = true;
  }

  /**
   * Notes faults for each command; after temporary refusals the session backs off, longer each time.
   */
  async #refused(sessionId: string, failures: readonly Failure[]): Promise<void> {
    const faults = new Map<string, Failure["id"][]>();
    for (const { id, error } of failures) {
      const known = toAppError(error);
      if (isElsewhere(known)) continue;
      const reason = reasonOf(known);
      if (known.retryable || id === undefined) this.#backedOff.failed(sessionId);
      if (!known.retryable) faults.set(reason, [...(faults.get(reason) ?? []), id]);
    }
    for (const [reason, ids] of faults) await this.#note(sessionId, ids, reason);
  }

  async #note(sessionId: string, ids: readonly Failure["id"][], reason: string): Promise<void> {
    const log = this.#options.log.child({ session_id: sessionId });
    const named = ids.filter((id) => id !== undefined);
    const isWhole = named.length < ids.length;
    try {
      const parked = await this.#options.backlog.failed({
        sessionId,
        ids: isWhole ? undefined : named,
        reason,
      });
      if (parked.length > 0) log.error({ reason, parked }, "commands parked");
      else log.warn({ reason, commands: isWhole ? "all" : named }, "commands refused");
    } catch (error) {
      this.#backedOff.failed(sessionId);
      log.warn({ reason, error: errorMessage(error) }, "refusal of commands not noted");
    }
  }
}

/** A failure of a command; without an id, of the session as a whole. */
interface Failure {
  id: string | undefined;
  error: unknown;
}

/** True when another host has the session. */
function isElsewhere(error: unknown): boolean {
  return isAppError(error, "lease_lost") || isAppError(error, "stale_epoch");
}

/** The error's code and its cause, in one line. */
function reasonOf({ code, message, cause }: AppError): string {
  const text = cause === undefined ? message : errorMessage(cause);
  return `${code}: ${text.replace(/\s+/g, " ")}`.slice(0, MOST_REASON);
}

export interface SweeperOptions {
  backlog: Backlog;
  owned(): number[];
  activate(id: string): Promise<unknown>;
  /** The activations of this host. */
  active(): ActiveSession[];
  end(active: ActiveSession, isDeleted: boolean): Promise<void>;
  deliver(command: BacklogCommand): Promise<unknown>;
  runtime: Runtime;
  log: Log;
  /** Interval of the checks when there is nothing more to do, milliseconds. */
  every: number;
  /** Age of a command after which its delivery counts as lost, milliseconds. */
  olderThan: number;
}
