import { MessageChannel, type MessagePort } from "node:worker_threads";
import { backOff } from "../../src/base/back-off.ts";
import { createDeferred, type Deferred, withTimeout } from "../../src/base/deferred.ts";
import { AppError } from "../../src/base/errors.ts";
import type { QueueFigures, QueueOwner } from "../../src/base/queue-metrics.ts";
import type { NetworkStatus } from "../../src/wire/worker-announcement.ts";
import { type Job, nextJob } from "./inference-jobs.ts";
import type { InferenceCall, InferenceEvent, InferenceRequest } from "./inference-protocol.ts";
import { InferenceThread } from "./inference-thread.ts";
import { type NetworkSettings, USUAL_NETWORKS } from "./network-settings.ts";
import { WorkOfShares } from "./work-of-shares.ts";

/** Jobs that a thread has at once: it takes turns between them. */
const TURNS = 3;
/** Of a share of which the thread has none yet: one whose turn it is does not wait for another's whole job. */
const MORE_TURNS = 1;
/** A share that had less than this part of another's work of late is light beside it. */
const LIGHT_PART = 1 / 4;
/** Further ones of a share that is light beside one of those in the thread: all that a piece asks for at once. */
const LIGHT_TURNS = 3;
/** An interim reading that waited longer is left out, milliseconds. */
const INTERIM_WAIT_MS = 2_000;
/** A piece whose thread ended is given to another thread so often. */
const TRIES = 2;
/** What a job that is under way counts as, until its time is known, milliseconds. */
const EXPECTED_MS = 150;
/** Loading the networks on a busy machine, milliseconds. */
const READY_MS = 60_000;
const RESTART = { firstMs: 200, mostMs: 10_000 };
/** Threads that are used by default: each takes some 220 MB. */
const MOST_THREADS = 4;

interface Waiting extends Job {
  readonly request: InferenceRequest;
  readonly answer: (event: InferenceEvent) => void;
  tries: number;
}

interface Slot {
  thread: InferenceThread | undefined;
  isReady: boolean;
  readonly jobs: Map<number, Waiting>;
  failures: number;
  restart: NodeJS.Timeout | undefined;
}

interface InferencePoolOptions {
  threads: number;
  /** False where no engine of the worker needs them to read: voices alone are heard. */
  reads?: boolean;
  /** How the networks are run; one thread of the processor for each run unless given. */
  networks?: NetworkSettings;
  /** File that each thread runs. */
  entry?: URL;
  readyMs?: number;
  onLost?: (reason: string) => void;
}

/** The number of inference threads for so many cores. */
export function inferenceThreads(cores: number): number {
  return Math.max(1, Math.min(MOST_THREADS, cores));
}

/**
 * The threads that run the networks, for all reading threads of the process. What waits is bounded
 * by its callers: a stream has at most one final and one interim reading under way, and asks about
 * the voices of one utterance.
 */
export class InferencePool implements QueueOwner {
  readonly #options: InferencePoolOptions;
  readonly #slots: Slot[] = [];
  readonly #waiting = new Map<number, Waiting>();
  readonly #work = new WorkOfShares();
  readonly #ports = new Set<MessagePort>();
  readonly #ready: Deferred<void> = createDeferred<void>();
  #nextId = 1;
  #isStopped = false;
  #leftOut = 0;
  #networks: NetworkStatus | undefined;

  constructor(options: InferencePoolOptions) {
    this.#options = options;
    // onnxruntime tells its maker what it runs, over the network, unless this is set when it is
    // loaded; in a thread it would be too late, as a thread has a copy of the environment.
    process.env.ORT_DISABLE_TELEMETRY = "1";
  }

  /** Resolves when the first thread has its networks; rejects with `unavailable` when none gets them. */
  async start(): Promise<void> {
    for (let n = 0; n < this.#options.threads; n++) {
      const slot: Slot = {
        thread: undefined,
        isReady: false,
        jobs: new Map(),
        failures: 0,
        restart: undefined,
      };
      this.#slots.push(slot);
      this.#begin(slot);
    }
    const limit = this.#options.readyMs ?? READY_MS;
    await withTimeout(this.#ready.promise, limit, "Loading the networks");
  }

  /** By what the networks are run, as the thread tells that was ready last; undefined before the first. */
  get networks(): NetworkStatus | undefined {
    return this.#networks;
  }

  get queues(): readonly QueueFigures[] {
    const taken = this.#slots.reduce((sum, { jobs }) => sum + jobs.size, 0);
    const length = this.#waiting.size + taken;
    return [
      {
        queue: "inference",
        length,
        limit: (TURNS + LIGHT_TURNS) * this.#slots.length,
        refused: this.#leftOut,
      },
    ];
  }

  /** A connection for one reading thread. Closing the other end drops what it asked for. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const ids = new Map<number, number>();
    this.#ports.add(port1);
    port1.on("message", (call: InferenceCall) => {
      if (call.kind === "drop") return this.#drop(ids.get(call.id));
      const id = this.#nextId++;
      ids.set(call.id, id);
      const answer = (event: InferenceEvent): void => {
        ids.delete(call.id);
        port1.postMessage({ ...event, id: call.id });
      };
      this.#add(id, call, answer);
    });
    port1.on("close", () => {
      this.#ports.delete(port1);
      for (const id of ids.values()) this.#drop(id);
    });
    return port2;
  }

  stop(): void {
    this.#isStopped = true;
    for (const port of this.#ports) port.close();
    for (const slot of this.#slots) {
      clearTimeout(slot.restart);
      slot.thread?.end();
    }
    this.#ready.reject(new AppError("unavailable", "The worker is stopping."));
    this.#ready.promise.catch(() => {});
  }

  #begin(slot: Slot): void {
    slot.thread = new InferenceThread({
      entry: this.#options.entry,
      reads: this.#options.reads ?? true,
      networks: this.#options.networks ?? USUAL_NETWORKS,
      onEvent: (event) => this.#onEvent(slot, event),
      onEnd: (reason) => this.#onEnd(slot, reason),
    });
  }

  #add(
    id: number,
    { request, share }: { request: InferenceRequest; share?: string | undefined },
    answer: Waiting["answer"],
  ): void {
    const about = { id, share, isFinal: request.isFinal, samples: request.pcm.length };
    this.#waiting.set(id, { ...about, arrivedAt: performance.now(), request, answer, tries: 0 });
    this.#assign();
  }

  #drop(id: number | undefined): void {
    if (id === undefined || this.#waiting.delete(id)) return;
    const slot = this.#slots.find(({ jobs }) => jobs.delete(id));
    slot?.thread?.send({ kind: "drop", id });
    this.#assign();
  }

  /** Gives what waits to threads that have room: the thread with the least to do first. */
  #assign(): void {
    this.#leaveOutOld();
    while (this.#waiting.size > 0) {
      const job = this.#next();
      const [slot] = this.#slots
        .filter((each) => each.isReady && each.jobs.size < this.#placesFor(job, each))
        .sort((a, b) => a.jobs.size - b.jobs.size);
      if (slot?.thread === undefined || job === undefined) return;
      this.#waiting.delete(job.id);
      slot.jobs.set(job.id, job);
      // A copy goes, since the piece is read again elsewhere if this thread ends.
      const request = { ...job.request, pcm: job.request.pcm.slice() };
      slot.thread.send({ kind: "run", id: job.id, request, share: job.share });
    }
  }

  #next(): Waiting | undefined {
    const now = performance.now();
    const running = this.#slots.flatMap(({ jobs }) => [...jobs.values()]);
    return nextJob(this.#waiting.values(), (share) => {
      const count = running.filter((job) => job.share === share).length;
      return this.#work.of(share, now) + count * EXPECTED_MS;
    });
  }

  #leaveOutOld(): void {
    const oldest = performance.now() - INTERIM_WAIT_MS;
    for (const job of this.#waiting.values()) {
      if (job.isFinal || job.arrivedAt >= oldest) continue;
      this.#waiting.delete(job.id);
      this.#leftOut += 1;
      job.answer({ kind: "left-out", id: job.id });
    }
  }

  #onEvent(slot: Slot, event: InferenceEvent): void {
    if (event.kind === "ready") {
      slot.isReady = true;
      this.#networks = event.networks;
      this.#ready.resolve();
    } else if (event.kind !== "broken") {
      slot.failures = 0;
      const job = slot.jobs.get(event.id);
      slot.jobs.delete(event.id);
      if (event.kind === "done") {
        this.#work.add(job?.share, event.answer.workMs, performance.now());
      }
      job?.answer(event);
    }
    this.#assign();
  }

  #onEnd(slot: Slot, reason: string): void {
    slot.isReady = false;
    slot.thread = undefined;
    const lost = [...slot.jobs.values()];
    slot.jobs.clear();
    if (this.#isStopped) return;
    slot.failures += 1;
    this.#options.onLost?.(reason);
    if (slot.failures >= TRIES && this.#slots.every(({ isReady }) => !isReady)) {
      this.#ready.reject(new AppError("unavailable", `The networks cannot be loaded (${reason}).`));
      this.#ready.promise.catch(() => {});
    }
    slot.restart = setTimeout(() => this.#begin(slot), backOff(slot.failures, RESTART));
    for (const job of lost) {
      job.tries += 1;
      if (job.tries < TRIES) this.#waiting.set(job.id, job);
      else job.answer({ kind: "failed", id: job.id, reason });
    }
    this.#assign();
  }

  #placesFor(job: Waiting | undefined, { jobs }: Slot): number {
    const others = [...jobs.values()].filter(({ share }) => share !== job?.share);
    if (others.length === 0) return TURNS;
    const now = performance.now();
    const most = Math.max(...others.map(({ share }) => this.#work.of(share, now)));
    if (this.#work.of(job?.share, now) < most * LIGHT_PART) return TURNS + LIGHT_TURNS;
    return others.length === jobs.size ? TURNS + MORE_TURNS : TURNS;
  }
}
