import type { InferenceAnswer, InferenceRequest } from "./inference-protocol.ts";

/** A longer piece goes before a shorter one that came this much later for each of its samples. */
const PATIENCE = 100 / 16_000;

/** A piece of work in steps. */
export interface Job {
  readonly id: number;
  readonly isFinal: boolean;
  readonly samples: number;
  readonly arrivedAt: number;
}

/**
 * The job to go on with: finals before interim readings; among them the one that came first, where
 * a long piece counts as having come later, so that short ones pass it, but not for ever.
 */
export function nextJob<T extends Job>(jobs: Iterable<T>): T | undefined {
  let best: T | undefined;
  for (const job of jobs) {
    if (best === undefined || goesBefore(job, best)) best = job;
  }
  return best;
}

function goesBefore(one: Job, other: Job): boolean {
  if (one.isFinal !== other.isFinal) return one.isFinal;
  return one.arrivedAt + one.samples * PATIENCE < other.arrivedAt + other.samples * PATIENCE;
}

/** Steps of a job; each ends after one run of a network. */
export type Steps = AsyncGenerator<undefined, InferenceAnswer>;

interface Running extends Job {
  readonly steps: Steps;
  workMs: number;
}

interface InferenceJobsOptions {
  begin: (request: InferenceRequest) => Steps;
  onDone: (id: number, answer: InferenceAnswer) => void;
  onFailed: (id: number, error: unknown) => void;
}

/** The jobs of one inference thread, a step at a time, so that none holds up another for long. */
export class InferenceJobs {
  readonly #options: InferenceJobsOptions;
  readonly #jobs = new Map<number, Running>();
  #isRunning = false;

  constructor(options: InferenceJobsOptions) {
    this.#options = options;
  }

  add(id: number, request: InferenceRequest): void {
    const { isFinal, pcm } = request;
    const steps = this.#options.begin(request);
    const about = { id, isFinal, samples: pcm.length, arrivedAt: performance.now() };
    this.#jobs.set(id, { ...about, steps, workMs: 0 });
    if (!this.#isRunning) void this.#run();
  }

  /** Leaves a job out; it is not answered. */
  drop(id: number): void {
    this.#jobs.delete(id);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let job = nextJob(this.#jobs.values()); job; job = nextJob(this.#jobs.values())) {
      await this.#step(job);
    }
    this.#isRunning = false;
  }

  async #step(job: Running): Promise<void> {
    const begun = performance.now();
    try {
      const { done, value } = await job.steps.next();
      job.workMs += performance.now() - begun;
      if (done !== true || !this.#jobs.delete(job.id)) return;
      this.#options.onDone(job.id, { ...value, workMs: job.workMs });
    } catch (error) {
      if (this.#jobs.delete(job.id)) this.#options.onFailed(job.id, error);
    }
  }
}
