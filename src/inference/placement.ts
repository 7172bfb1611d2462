import { backOff } from "../base/back-off.ts";
import type { Runtime } from "../base/runtime.ts";
import type { LanguageModelStatus } from "../wire/language-model.ts";
import { MOONSHINE, type SpeechEngine, UNHEARD } from "../wire/speech-engines.ts";
import type { MissingEngine, WorkerAnnouncement } from "../wire/worker-announcement.ts";

const SILENCE_MS = 4_000;
const BACK_OFF = { firstMs: 250, mostMs: 5_000 };
/**
 * A living worker is heard from within this time, as it announces itself every second;
 * milliseconds.
 */
const GONE_MS = 2_500;
/**
 * An announcement that comes this soon may have been sent before the process ended, milliseconds.
 */
const UNDER_WAY_MS = 200;
const POLL_MS = 50;
/** Most workers that are remembered, as protection against a flood of announcements. */
const MAX_WORKERS = 1_000;
/** Most engines that are remembered. */
const MAX_ENGINES = 100;

interface PlacementOptions {
  runtime: Runtime;
  /** A worker is forgotten after this time without an announcement, milliseconds. */
  silenceMs?: number;
}

/** The state of one worker, for operators. */
interface WorkerStatus extends WorkerAnnouncement {
  /** Time since its last announcement, milliseconds. */
  silent_ms: number;
  /** Time until it gets audio again after failures, milliseconds; 0 when it may be used. */
  back_off_ms: number;
  state: "available" | "full" | "draining" | "backing_off";
}

/** A worker does both in different threads: failures at one say nothing of the other. */
type Work = "audio" | "text";

interface Failures {
  count: number;
  /** It is used again from then on. */
  retryAt: number;
}

interface Known {
  announcement: WorkerAnnouncement;
  heardAt: number;
  /** Sessions placed by this process that its newest announcement may not include yet. */
  placed: number;
  pickedAt: number;
  failures: Record<Work, Failures>;
}

/** Chooses the worker for the next session: the least loaded one of those heard from lately. */
export class Placement {
  readonly #runtime: Runtime;
  readonly #silenceMs: number;
  readonly #workers = new Map<string, Known>();
  /** Every engine that was announced since the start, as it was announced last. */
  readonly #engines = new Map<string, SpeechEngine>();
  readonly #listeners: (() => void)[] = [];
  #picks = 0;

  constructor(options: PlacementOptions) {
    this.#runtime = options.runtime;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
  }

  update(announcement: WorkerAnnouncement): void {
    this.#forgetSilent();
    const { address, worker_id } = announcement;
    const known = this.#workers.get(address);
    const isSame = known?.announcement.worker_id === worker_id;
    if (known === undefined && this.#workers.size >= MAX_WORKERS) return;
    for (const [other, { announcement: old }] of this.#workers) {
      if (other !== address && old.worker_id === worker_id) this.#workers.delete(other);
    }
    this.#remember(announcement);
    this.#workers.set(address, {
      announcement,
      heardAt: this.#runtime.monotonic(),
      placed: 0,
      pickedAt: isSame ? known.pickedAt : 0,
      failures: isSame ? known.failures : { audio: none(), text: none() },
    });
    for (const listener of this.#listeners) listener();
  }

  /** Called after every announcement: about once a second, and when a session begins or ends. */
  onUpdate(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Sessions that the workers with this engine can take now. */
  room(engine: string): number {
    this.#forgetSilent();
    let room = 0;
    for (const worker of this.#workers.values()) {
      const { announcement, placed } = worker;
      if (this.#stateOf(worker) !== "available" || !announcement.engines.includes(engine)) continue;
      room += announcement.capacity - announcement.sessions - placed;
    }
    return room;
  }

  /**
   * The engines of all workers that were heard since the start, also of those that are away just
   * now; before the first, the one that every worker has by default.
   */
  engines(): readonly SpeechEngine[] {
    return this.#engines.size === 0 ? UNHEARD : [...this.#engines.values()];
  }

  /** Engines that workers should have and have not, each once. */
  missingEngines(): MissingEngine[] {
    this.#forgetSilent();
    const all = [...this.#workers.values()].flatMap(
      ({ announcement }) => announcement.missing ?? [],
    );
    return [...new Map(all.map((each) => [`${each.name} ${each.reason}`, each])).values()];
  }

  /**
   * The language models of the workers that were heard from lately, each once: as a worker tells whom it
   * answers, if there is one.
   */
  languageModels(): LanguageModelStatus[] {
    this.#forgetSilent();
    const models = new Map<string, LanguageModelStatus>();
    for (const { announcement } of this.#workers.values()) {
      const model = announcement.language_model;
      if (model === undefined || models.get(model.name)?.answers === true) continue;
      models.set(model.name, model);
    }
    return [...models.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Whether a worker that was heard from lately has the engine. */
  hasEngine(name: string): boolean {
    this.#forgetSilent();
    return [...this.#workers.values()].some((worker) => worker.announcement.engines.includes(name));
  }

  /**
   * Returns the address of the least loaded worker that has the engine, and counts a session for
   * it; undefined when none has room.
   */
  pick(engine?: string): string | undefined {
    this.#forgetSilent();
    const [best] = [...this.#workers.values()]
      .filter((worker) => this.#stateOf(worker) === "available")
      .filter(({ announcement }) => engine === undefined || announcement.engines.includes(engine))
      .sort((a, b) => loadOf(a) - loadOf(b) || a.pickedAt - b.pickedAt);
    if (best === undefined) return undefined;
    this.#picks += 1;
    best.pickedAt = this.#picks;
    best.placed += 1;
    return best.announcement.address;
  }

  /**
   * Returns the address of the least loaded worker for work on text, which needs no room for a
   * session; undefined when none was heard from lately.
   *
   * @param suits whether a worker can do the work, as it announces itself
   */
  pickForText(suits: (worker: WorkerAnnouncement) => boolean = () => true): string | undefined {
    this.#forgetSilent();
    const [best] = [...this.#workers.values()]
      .filter((worker) => ["available", "full"].includes(this.#stateOf(worker, "text")))
      .filter(({ announcement }) => suits(announcement))
      .sort((a, b) => loadOf(a) - loadOf(b) || a.pickedAt - b.pickedAt);
    if (best === undefined) return undefined;
    this.#picks += 1;
    best.pickedAt = this.#picks;
    return best.announcement.address;
  }

  /**
   * Records that work at the address failed through the worker's fault: it gets none of that kind for a
   * while.
   */
  failed(address: string, work: Work): void {
    const failures = this.#workers.get(address)?.failures[work];
    if (failures === undefined) return;
    failures.count += 1;
    failures.retryAt = this.#runtime.monotonic() + backOff(failures.count, BACK_OFF);
  }

  /** Records that work at the address went well, which clears earlier failures at that kind of work. */
  succeeded(address: string, work: Work): void {
    const worker = this.#workers.get(address);
    if (worker !== undefined) worker.failures[work] = none();
  }

  /** The instance id of the process at an address; undefined when it was not heard from lately. */
  instanceAt(address: string): string | undefined {
    const announcement = this.#workers.get(address)?.announcement;
    return announcement?.instance ?? announcement?.worker_id;
  }

  /**
   * Whether a worker's process ended; must be called right after a connection to it broke. A living
   * process is heard from again within about a second, whatever happened to the network.
   */
  async isGone(address: string, instance: string | undefined): Promise<boolean> {
    const since = this.#runtime.monotonic();
    while (this.#runtime.monotonic() - since < GONE_MS) {
      await this.#runtime.delay(POLL_MS);
      const known = this.#workers.get(address);
      if (known === undefined || known.heardAt < since + UNDER_WAY_MS) continue;
      return this.instanceAt(address) !== instance;
    }
    return true;
  }

  /** All workers heard from lately, by id. */
  status(): WorkerStatus[] {
    this.#forgetSilent();
    const now = this.#runtime.monotonic();
    return [...this.#workers.values()]
      .map((worker) => ({
        ...worker.announcement,
        silent_ms: Math.round(now - worker.heardAt),
        back_off_ms: Math.max(0, Math.round(worker.failures.audio.retryAt - now)),
        state: this.#stateOf(worker),
      }))
      .sort((a, b) => (a.worker_id < b.worker_id ? -1 : 1));
  }

  #remember({ engines, speech }: WorkerAnnouncement): void {
    // A worker of an older release tells names only; it has no other engine than the default.
    const described = speech ?? engines.map((name) => ({ ...MOONSHINE, name, model: undefined }));
    for (const engine of described) {
      if (this.#engines.has(engine.name) || this.#engines.size < MAX_ENGINES) {
        this.#engines.set(engine.name, engine);
      }
    }
  }

  #stateOf(worker: Known, work: Work = "audio"): WorkerStatus["state"] {
    const { draining, capacity, sessions } = worker.announcement;
    if (draining) return "draining";
    if (worker.failures[work].retryAt > this.#runtime.monotonic()) return "backing_off";
    return sessions + worker.placed >= capacity ? "full" : "available";
  }

  #forgetSilent(): void {
    const oldest = this.#runtime.monotonic() - this.#silenceMs;
    for (const [address, { heardAt }] of this.#workers) {
      if (heardAt < oldest) this.#workers.delete(address);
    }
  }
}

function none(): Failures {
  return { count: 0, retryAt: 0 };
}

function loadOf({ announcement, placed }: Known): number {
  return (announcement.sessions + placed) / announcement.capacity;
}
