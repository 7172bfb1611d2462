import type { InferenceAnswer, InferenceRequest } from "./inference-protocol.ts";
import { WorkOfShares } from "./work-of-shares.ts";

/** A longer piece goes before a shorter one that came this much later for each of its samples. */
const PATIENCE = 100 / 16_000;

/** A piece of work in steps. */
export interface Job {
  readonly id: number;
  readonly share: string | undefined;
  readonly isFinal: boolean;
  readonly samples: number;
  readonly arrivedAt: number;
}

/**
 * The job to go on with: finals before interim readings; among them that of the share for which
 * least was done; of one share's the one that came first, where a long piece counts as having come
 * later, so that short ones pass it, but not for ever.
 *
 * @param workOf what was done for a share, in milliseconds
 */
export function nextJob<T extends Job>(
  jobs: Iterable<T>,
  workOf: (share: string | undefined) => number,
): T | undefined {
  let best: T | undefined;
  for (const job of jobs) {
    if (best === undefined || goesBefore(job, best, workOf)) best = job;
  }
  return best;
}

function goesBefore(one: Job, other: Job, workOf: (share: string | undefined) => number): boolean {
  if (one.isFinal !== other.isFinal) return one.isFinal;
  if (one.share !== other.share) {
    const [ours, theirs] = [workOf(one.share), workOf(other.share)];
    if (ours !== theirs) return ours < theirs;
  }
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
  readonly #work = new WorkOfShares();
  #isRunning = false;

  constructor(options: InferenceJobsOptions) {
    this.#options = options;
  }

  add(id: number, request: InferenceRequest, share?: string): void {
    const { isFinal, pcm } = request;
    const steps = this.#options.begin(request);
    const about = { id, share, isFinal, samples: pcm.length, arrivedAt: performance.now() };
    this.#jobs.set(id, { ...about, steps, workMs: 0 });
    if (!this.#isRunning) void this.#run();
  }

  /** Leaves a job out; it is not answered. */
  drop(id: number): void {
    this.#jobs.delete(id);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let job = this.#next(); job !== undefined; job = this.#next()) await this.#step(job);
    this.#isRunning = false;
  }

  #next(): Running | undefined {
    const now = performance.now();
    return nextJob(this.#jobs.values(), (share) => this.#work.of(share, now));
  }

  async #step(job: Running): Promise<void> {
    const begun = performance.now();
    try {
      const { done, value } = await job.steps.next();
      const now = performance.now();
      job.workMs += now - begun;
      this.#work.add(job.share, now - begun, now);
      if (done !== true || !this.#jobs.delete(job.id)) return;
      this.#options.onDone(job.id, { ...value, workMs: job.workMs });
    } catch (error) {
      if (this.#jobs.delete(job.id)) this.#options.onFailed(job.id, error);
    }
  }
}
