import { AppError } from "../../src/base/errors.ts";
import type { EngineRequest } from "../../src/inference/engine-choice.ts";
import type { Asker } from "../../src/inference/fair-slots.ts";
import type {
  TranscribeMessage,
  TranscribeResult,
  Transcribers,
  TranscriptionStream,
} from "../../src/inference/transcription-stream.ts";
import type { Kernel } from "./kernel/kernel.ts";
import type { Machine } from "./kernel/machine.ts";
import { Recogniser } from "./recogniser.ts";
import { decode, kindOf, runsOf } from "./speech.ts";
import { isPoison, TRACK_TYPE, trackRuns } from "./track.ts";

/** As the client of real workers has them. */
const MAX_AHEAD = 90 * 16_000;
const OPEN_MS = 40_000;
const STALL_MS = 120_000;
const UNREACHABLE_MS = 8_000;

export interface WorkerOptions {
  /** Sessions at once. */
  capacity: number;
  /** How many times faster than speech it reads. */
  speed: number;
  /** Of the texts it makes: another flavour ends utterances elsewhere. */
  flavour: string;
}

/** One worker process. */
export class SimWorker {
  readonly name: string;
  readonly options: WorkerOptions;
  readonly streams = new Set<SimStream>();
  readonly #kernel: Kernel;
  isDead = false;
  /** It reads nothing, and says nothing. */
  isStalled = false;

  constructor(name: string, options: WorkerOptions, kernel: Kernel) {
    this.name = name;
    this.#kernel = kernel;
    this.options = options;
  }

  /** Another process comes in its place. */
  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const stream of [...this.streams]) stream.lost();
    this.#kernel.plan(500 + this.#kernel.random.next() * 4_000, () => {
      this.isDead = false;
      this.isStalled = false;
    });
  }
}

export interface WorkerPool {
  kernel: Kernel;
  workers: SimWorker[];
  counts: { poisoned: number; full: number; broken: number; opened: number };
  /** Whether this host reaches this worker. */
  reaches(host: string, worker: string): boolean;
}

/** The workers as one host sees them. */
export class SimTranscribers implements Transcribers {
  readonly #pool: WorkerPool;
  readonly #machine: Machine;

  constructor(pool: WorkerPool, machine: Machine) {
    this.#pool = pool;
    this.#machine = machine;
  }

  get isCrowded(): boolean {
    return this.#pool.workers.every(({ streams, options }) => streams.size >= options.capacity);
  }

  open(_wish: EngineRequest, asker?: Asker): TranscriptionStream {
    for (const { streams } of this.#pool.workers) {
      // A worker notices soon that the other end is gone.
      for (const stream of streams) if (stream.isForsaken) streams.delete(stream);
    }
    const seen = this.#pool.workers.filter(({ isDead }) => !isDead);
    if (seen.length === 0) throw new AppError("unavailable", "No worker is running.");
    const [least] = seen
      .filter(({ streams, options }) => streams.size < options.capacity)
      .sort((a, b) => a.streams.size - b.streams.size);
    if (least === undefined) {
      this.#pool.counts.full += 1;
      if (asker !== undefined) this.#wakeLater(asker);
      throw new AppError("overloaded", "All workers are busy.");
    }
    return new SimStream(this.#pool, least, this.#machine);
  }

  /** Sometimes a place is there by then, sometimes the asker, both or neither. */
  #wakeLater(asker: Asker): void {
    const { kernel } = this.#pool;
    kernel.plan(kernel.random.next() * 6_000, () => {
      if (!this.#machine.isDead) asker.wake();
    });
  }
}

/** A reading by a worker, as its client sees it, with both ends and the way between them. */
class SimStream implements TranscriptionStream {
  readonly #pool: WorkerPool;
  readonly #worker: SimWorker;
  readonly #machine: Machine;
  #onMessage: (message: TranscribeResult) => void = () => {};
  #onDrain: () => void = () => {};
  #onEnd: (error: AppError | undefined) => void = () => {};
  #isClosed = false;
  #isOpened = false;
  #isFull = false;
  #isFinished = false;
  #sentTo = 0;
  #readTo = 0;
  #heardAt = 0;
  /** What comes later by the network comes in order. */
  #arrives = 0;
  #returns = 0;
  #said = 0;
  #held: (() => void)[] = [];
  // At the worker.
  #inputs: TranscribeMessage[] = [];
  #isReading = false;
  #recogniser: Recogniser | undefined;
  #wantsInterim = false;
  #revision = 0;

  constructor(pool: WorkerPool, worker: SimWorker, machine: Machine) {
    this.#pool = pool;
    this.#worker = worker;
    this.#machine = machine;
    worker.streams.add(this);
    this.#watch();
  }

  /** The process that opened it is gone. */
  get isForsaken(): boolean {
    return this.#machine.isDead;
  }

  send(message: TranscribeMessage): boolean {
    if (this.#isClosed || this.#isFinished) return true;
    if (message.$case === "open") this.#readTo = message.value.checkpoint?.position ?? 0;
    if (message.$case === "chunk" || message.$case === "gap") {
      this.#sentTo = Math.max(this.#sentTo, message.value.start + message.value.length);
    }
    const { kernel } = this.#pool;
    this.#arrives = Math.max(this.#arrives + 0.001, kernel.now + 0.2 + kernel.random.next());
    this.#through(this.#arrives - kernel.now, () => this.#arrive(message));
    const isBusy = kernel.random.chance(0.02);
    if (isBusy) this.#machine.after(20, () => this.#drain());
    this.#isFull = isBusy || this.#sentTo - this.#readTo > MAX_AHEAD;
    return !this.#isFull;
  }

  onMessage(listener: (message: TranscribeResult) => void): void {
    this.#onMessage = listener;
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  onEnd(listener: (error: AppError | undefined) => void): void {
    this.#onEnd = listener;
  }

  finish(): void {
    this.#isFinished = true;
  }

  cancel(): void {
    this.#close();
  }

  /** The worker's process ended; what it said last may never have left it. */
  lost(): void {
    this.#inputs = [];
    if (this.#pool.kernel.random.chance(0.5)) this.#said += 1;
    this.#answer(() => {
      const code = this.#isOpened ? "worker_broken" : "unavailable";
      this.#end(new AppError(code, "The worker was lost."));
    });
    this.#worker.streams.delete(this);
  }

  get #isReached(): boolean {
    return this.#pool.reaches(this.#machine.name, this.#worker.name);
  }

  #close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    this.#worker.streams.delete(this);
    return true;
  }

  #end(error: AppError | undefined): void {
    if (!this.#close()) return;
    if (error !== undefined) this.#pool.counts.broken += 1;
    this.#onEnd(error);
  }

  #drain(): void {
    if (!this.#isFull || this.#isClosed || this.#sentTo - this.#readTo > MAX_AHEAD) return;
    this.#isFull = false;
    this.#onDrain();
  }

  /** What the client itself notices: a line that is dead, a worker that says nothing. */
  #watch(): void {
    this.#heardAt = this.#machine.monotonic();
    let unreachedSince: number | undefined;
    const look = (): void => {
      if (this.#isClosed) return;
      const now = this.#machine.monotonic();
      unreachedSince = this.#isReached ? undefined : (unreachedSince ?? now);
      if (unreachedSince !== undefined && now - unreachedSince >= UNREACHABLE_MS) {
        return this.#end(new AppError("unavailable", "The worker was lost."));
      }
      const silence = now - this.#heardAt;
      if (!this.#isOpened && silence > OPEN_MS) {
        return this.#end(new AppError("timeout", "The worker did not answer."));
      }
      const isWaiting = this.#isOpened && !this.#isFinished && this.#sentTo > this.#readTo;
      if (isWaiting && silence > STALL_MS) {
        return this.#end(new AppError("worker_broken", "No sign of the worker."));
      }
      this.#machine.after(2_000, look);
    };
    this.#machine.after(2_000, look);
  }

  /** To the host, in order. */
  #answer(work: () => void): void {
    const { kernel } = this.#pool;
    const said = this.#said;
    this.#returns = Math.max(this.#returns + 0.001, kernel.now + 0.2 + kernel.random.next());
    this.#through(this.#returns - kernel.now, () =>
      this.#machine.enter(() => {
        if (!this.#isClosed && said === this.#said) work();
      }),
    );
  }

  /** By a connection: what cannot come through waits, in order, until it breaks. */
  #through(ms: number, act: () => void): void {
    const isFree = this.#held.length === 0;
    this.#pool.kernel.plan(ms, () => {
      if (this.#isClosed) return;
      if (this.#isReached && isFree && this.#held.length === 0) return act();
      this.#held.push(act);
      if (this.#held.length === 1) this.#retry();
    });
  }

  #retry(): void {
    this.#pool.kernel.plan(200, () => {
      if (this.#isClosed) return;
      if (this.#isReached) for (const act of this.#held.splice(0)) act();
      if (this.#held.length > 0) this.#retry();
    });
  }

  #tell(message: TranscribeResult): void {
    this.#answer(() => {
      this.#heardAt = this.#machine.monotonic();
      if (message.$case === "opened") this.#isOpened = true;
      if (message.$case === "progress") {
        this.#readTo = Math.max(this.#readTo, message.value.processedTo);
      }
      if (message.$case === "utterance") {
        this.#readTo = Math.max(this.#readTo, message.value.end);
      }
      this.#onMessage(message);
      this.#drain();
    });
  }

  // ── at the worker ──

  #arrive(message: TranscribeMessage): void {
    if (!this.#worker.streams.has(this)) return;
    this.#inputs.push(message);
    if (!this.#isReading) this.#next();
  }

  #next(): void {
    const message = this.#inputs[0];
    this.#isReading = message !== undefined;
    if (message === undefined) return;
    const { kernel } = this.#pool;
    const seconds = message.$case === "chunk" ? message.value.length / 16_000 : 0.02;
    const ms = (seconds * 1_000) / this.#worker.options.speed;
    kernel.plan(ms * (0.5 + kernel.random.next()), () => this.#read());
  }

  #read(): void {
    if (!this.#worker.streams.has(this)) return;
    if (this.#worker.isStalled) {
      this.#pool.kernel.plan(500, () => this.#read());
      return;
    }
    const message = this.#inputs.shift();
    if (message !== undefined) this.#take(message);
    this.#next();
  }

  #take(message: TranscribeMessage): void {
    if (message.$case === "open") {
      const { sessionId, checkpoint, interimResults } = message.value;
      this.#wantsInterim = interimResults;
      this.#recogniser = new Recogniser(this.#worker.options.flavour + sessionId, checkpoint);
      this.#pool.counts.opened += 1;
      this.#tell({
        $case: "opened",
        value: {
          engine: "simulated",
          engineVersion: "1",
          diarisationModelVersion: "1",
          detectedLanguage: "en",
          batches: undefined,
        },
      });
      return;
    }
    const recogniser = this.#recogniser;
    if (recogniser === undefined) return;
    if (message.$case === "chunk") {
      const { value } = message;
      const data = Buffer.from(value.data);
      const isTrack = value.mediaType === TRACK_TYPE;
      const runs = isTrack ? trackRuns(data) : runsOf(decode(data));
      const kind = !isTrack ? kindOf(data) : runs.some(isPoison) ? "poison" : "speech";
      if (kind === "poison" && value.start + value.length > recogniser.position) {
        this.#pool.counts.poisoned += 1;
        return this.#worker.die();
      }
      if (kind === "speech") recogniser.hear(value, runs);
      else {
        const { sequence } = value;
        const failed = { sequence, code: "not_audio", message: "Nobody can read this." };
        this.#tell({ $case: "chunkFailed", value: failed });
        recogniser.missing(value.start + value.length);
      }
    }
    if (message.$case === "gap") recogniser.gap(message.value.start + message.value.length);
    if (message.$case === "finalize") recogniser.end(true);
    if (message.$case === "finish") recogniser.end();
    this.#say(recogniser);
    if (message.$case === "finish") this.#finish(recogniser);
  }

  #say(recogniser: Recogniser): void {
    for (const utterance of recogniser.take()) this.#tell({ $case: "utterance", value: utterance });
    const { position: processedTo, finalisedTo } = recogniser;
    this.#tell({ $case: "progress", value: { processedTo, finalisedTo } });
    if (this.#wantsInterim) this.#guess(recogniser);
  }

  /** What the utterance in hand says so far. */
  #guess({ inHand: words, position: end }: Recogniser): void {
    const [first] = words;
    if (first === undefined) return;
    this.#revision += 1;
    const [{ start }, revision] = [first, this.#revision];
    const stableWords = words.length - 1;
    const value = { start, end, revision, words: [...words], cluster: -1, stableWords };
    this.#tell({ $case: "hypothesis", value });
  }

  #finish({ position: finalisedTo }: Recogniser): void {
    const speakers = { segments: [], merges: [], finalPass: true };
    this.#tell({ $case: "done", value: { finalisedTo, speakers } });
    this.#answer(() => this.#end(undefined));
  }
}
