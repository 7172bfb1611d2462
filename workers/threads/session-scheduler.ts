import { getHeapStatistics } from "node:v8";
import { SAMPLES_PER_MS } from "../../src/base/audio/sample-rate.ts";
import { AppError } from "../../src/base/errors.ts";
import {
  type AnswerTime,
  TranscribeRequest,
  TranscribeResponse,
} from "../../src/wire/gen/voice/v1/worker.ts";
import { WorkOfShares } from "../inference/work-of-shares.ts";
import type { Reader, ReaderFactory, RequestMessage, ResponseMessage } from "../speech/reader.ts";
import {
  type EncodedResult,
  type FeedResult,
  type OpenedSession,
  type SessionBatch,
  type ThreadEvent,
  toFault,
} from "./thread-protocol.ts";

/** Results wait for others no longer than this, plus one step of the engine; milliseconds. */
const TOGETHER_MS = 1;
/**
 * Loading a decoder, or dictionaries for text, blocks the thread: about a second as measured, far
 * longer on a busy machine.
 */
const LOAD_ALLOWANCE_MS = 30_000;
/** The final speaker pass is one step, which may take this share of the session's length. */
const FINAL_PASS_SHARE = 0.25;
/** Short, as the sessions of a busy share go on being live; milliseconds. */
const HALF_LIFE_MS = 1_000;

interface Entry {
  readonly session: number;
  /** See `Open.share`. */
  readonly share: string | undefined;
  reader: Reader | undefined;
  held: boolean;
  active: boolean;
  finishing: boolean;
  /** True when the client wants Progress whenever all audio was read. */
  readonly reportsWhenRead: boolean;
  readonly times: AnswerTimes;
  /** End of the audio taken so far, in samples. */
  end: number;
  /** The reader has nothing left to do until more audio comes. */
  isRead: boolean;
  /** How far the client knows it to be read, in samples. */
  reportedTo: number;
  /** `end` at the last call of `reportIdle`. */
  idleAt: number;
}

interface SessionSchedulerOptions {
  readers: ReaderFactory;
  emit: (event: ThreadEvent) => void;
}

/**
 * Runs the sessions of one thread in turn, so that none waits for another's backlog: those of the
 * share for which least was done of late go first, of these the ones that are urgent.
 */
export class SessionScheduler {
  readonly #readers: ReaderFactory;
  readonly #emit: (event: ThreadEvent) => void;
  readonly #entries = new Map<number, Entry>();
  /** Results that were not sent yet, by session. */
  readonly #batches = new Map<number, SessionBatch>();
  readonly #work = new WorkOfShares(HALF_LIFE_MS);
  #reportedAt = 0;
  #scheduled = false;
  #loading = 0;

  constructor(options: SessionSchedulerOptions) {
    this.#readers = options.readers;
    this.#emit = options.emit;
  }

  /**
   * Opens a session. `request` must contain Open; throws `bad_request` otherwise, or the reader's
   * error.
   */
  async open(session: number, request: Uint8Array): Promise<OpenedSession> {
    const [message] = decode(request);
    if (message?.$case !== "open") {
      throw new AppError("bad_request", "The first message of a stream must be Open.");
    }
    const entry: Entry = {
      session,
      share: message.value.share,
      reader: undefined,
      held: false,
      active: false,
      finishing: false,
      reportsWhenRead: message.value.tellWhenRead === true,
      times: new AnswerTimes(() => performance.now()),
      ...startsAt(message.value.checkpoint?.position ?? 0),
    };
    this.#entries.set(session, entry);
    try {
      const reader = await this.allowTime(() => this.#readers.open(message.value));
      if (this.#entries.get(session) !== entry) {
        reader.close();
        throw new AppError("unavailable", "The session was closed while it was being opened.");
      }
      entry.reader = reader;
      reader.onReady?.(() => {
        entry.active = true;
        this.#schedule();
      });
      const { sessionId, attempt } = message.value;
      const value = { ...reader.opened, batches: true };
      return { sessionId, attempt, opened: encode({ $case: "opened", value }) };
    } catch (error) {
      if (this.#entries.get(session) === entry) this.#entries.delete(session);
      throw error;
    }
  }

  /**
   * Announces before a load that the thread may be blocked for long, as it is on a busy machine.
   */
  async allowTime<T>(load: () => Promise<T>): Promise<T> {
    this.#loading += 1;
    this.beat();
    try {
      return await load();
    } finally {
      this.#loading -= 1;
      this.beat();
    }
  }

  /**
   * Takes requests. Throws `not_found` for a session that has ended, `bad_request` for a second
   * Open.
   */
  feed(session: number, request: Uint8Array): FeedResult {
    const entry = this.#entries.get(session);
    if (entry?.reader === undefined) throw new AppError("not_found", "The session has ended.");
    for (const message of decode(request)) enqueue(message, entry, entry.reader);
    entry.active = true;
    entry.isRead = false;
    this.#schedule();
    return { queuedSamples: entry.reader.queuedSamples(), finishing: entry.finishing };
  }

  hold(session: number, held: boolean): void {
    const entry = this.#entries.get(session);
    if (entry === undefined) return;
    entry.held = held;
    this.#schedule();
  }

  close(session: number): void {
    this.#batches.delete(session);
    this.#end(session);
  }

  #end(session: number): void {
    const entry = this.#entries.get(session);
    this.#entries.delete(session);
    entry?.reader?.close();
  }

  closeAll(): void {
    for (const session of [...this.#entries.keys()]) this.close(session);
  }

  /**
   * Sends the position of each session that has read all its audio and got none since the last
   * call: readers report whole seconds only, so that the end of a sound would seem unread for ever.
   */
  reportIdle(): void {
    for (const entry of this.#entries.values()) {
      const { session, reader, end } = entry;
      if (reader !== undefined && entry.isRead && entry.idleAt === end && entry.reportedTo < end) {
        const results = encodeResults([progressTo(end)], entry, reader);
        this.#keep({ session, results, queuedSamples: reader.queuedSamples(), done: false });
      }
      entry.idleAt = end;
    }
    this.#report();
  }

  /** Sends a sign of life, with the time until the next one if that may be longer than usual. */
  beat(allowanceMs = this.#loading > 0 ? LOAD_ALLOWANCE_MS : 0): void {
    const heap = getHeapStatistics();
    const heapBytes = heap.used_heap_size + heap.external_memory;
    this.#emit({ kind: "beat", allowanceMs, heapBytes });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#round());
  }

  /**
   * Runs one step of every session of one share that has work, or only of those that are urgent while
   * there are any, then returns to the event loop.
   */
  #round(): void {
    this.#scheduled = false;
    if (this.#batches.size === 0) this.#reportedAt = performance.now();
    const ready = [...this.#entries.values()].filter(isReady);
    const ours = this.#ofNextShare(ready);
    const urgent = ours.filter(({ reader }) => reader.isUrgent === true);
    for (const entry of urgent.length > 0 ? urgent : ours) {
      const batch = this.#step(entry, entry.reader);
      if (batch !== undefined) this.#keep(batch);
      if (performance.now() - this.#reportedAt >= TOGETHER_MS) this.#report();
    }
    if (ready.some(isReady)) this.#schedule();
    else this.#report();
  }

  #ofNextShare(ready: readonly ReadyEntry[]): readonly ReadyEntry[] {
    const now = performance.now();
    const shares = new Set(ready.map(({ share }) => share));
    if (shares.size <= 1) return ready;
    const work = new Map([...shares].map((share) => [share, this.#work.of(share, now)]));
    const least = Math.min(...work.values());
    return ready.filter(({ share }) => work.get(share) === least);
  }

  #keep(batch: SessionBatch): void {
    const before = this.#batches.get(batch.session);
    const results = [...(before?.results ?? []), ...batch.results];
    this.#batches.set(batch.session, { ...batch, results });
  }

  #report(): void {
    this.#reportedAt = performance.now();
    if (this.#batches.size === 0) return;
    this.#emit({ kind: "results", batches: [...this.#batches.values()] });
    this.#batches.clear();
  }

  #step(entry: Entry, reader: Reader): SessionBatch | undefined {
    const begun = performance.now();
    try {
      if (entry.finishing && reader.queuedSamples() === 0) {
        this.beat(LOAD_ALLOWANCE_MS + (entry.end / SAMPLES_PER_MS) * FINAL_PASS_SHARE);
      }
      const { messages, idle, done, waits } = reader.step();
      entry.active = !idle && !done;
      entry.isRead = idle && !done && waits !== true;
      if (entry.isRead && entry.reportsWhenRead) messages.push(progressTo(entry.end));
      const results = encodeResults(messages, entry, reader);
      const queuedSamples = reader.queuedSamples();
      if (done) this.#end(entry.session);
      return { session: entry.session, results, queuedSamples, done };
    } catch (error) {
      this.#fail(entry, error);
      return undefined;
    } finally {
      const now = performance.now();
      this.#work.add(entry.share, now - begun, now);
    }
  }

  #fail(entry: Entry, error: unknown): void {
    entry.active = false;
    // Earlier results are sent first.
    this.#report();
    this.#emit({ kind: "session-failed", session: entry.session, fault: toFault(error) });
    try {
      this.close(entry.session);
    } catch {
      // The reader is broken already, and that was reported.
    }
  }
}

type ReadyEntry = Entry & { reader: Reader };

function isReady(entry: Entry): entry is ReadyEntry {
  return entry.active && !entry.held && entry.reader !== undefined;
}

/** The session's own next progress message reports how far it is final. */
function progressTo(processedTo: number): ResponseMessage {
  return { $case: "progress", value: { processedTo, finalisedTo: 0 } };
}

function startsAt(end: number): Pick<Entry, "end" | "isRead" | "reportedTo" | "idleAt"> {
  return { end, isRead: false, reportedTo: end, idleAt: end };
}

function encodeResults(
  messages: readonly ResponseMessage[],
  entry: Entry,
  reader: Reader,
): EncodedResult[] {
  return messages.map((message) => {
    if (message.$case === "progress") {
      entry.reportedTo = Math.max(entry.reportedTo, message.value.processedTo);
    }
    return toResult(timed(message, entry, reader));
  });
}

/** Adds the answer time to finals. */
function timed(message: ResponseMessage, { times }: Entry, reader: Reader): ResponseMessage {
  if (message.$case !== "utterance") return message;
  const { engineMs, heardTo: needed = message.value.end } = reader;
  const answered = times.answered(needed, engineMs);
  const time = answered && { ...answered, needed };
  return { $case: "utterance", value: { ...message.value, time } };
}

function enqueue(message: RequestMessage, entry: Entry, reader: Reader): void {
  if (message.$case === "open") {
    throw new AppError("bad_request", "The stream has been opened already.");
  }
  if (entry.finishing) throw new AppError("bad_request", "Nothing may follow Finish.");
  if (message.$case === "chunk" || message.$case === "gap") {
    entry.end = Math.max(entry.end, message.value.start + message.value.length);
  }
  entry.times.arrived(entry.end, reader.engineMs);
  reader.enqueue(message);
  entry.finishing = message.$case === "finish";
}

function decode(bytes: Uint8Array): RequestMessage[] {
  let request: TranscribeRequest;
  try {
    request = TranscribeRequest.decode(bytes);
  } catch (error) {
    throw new AppError("bad_request", "The request is no TranscribeRequest.", { cause: error });
  }
  if (request.message?.$case !== "batch") return [messageOf(request)];
  return request.message.value.requests.map(messageOf);
}

function messageOf({ message }: TranscribeRequest): RequestMessage {
  if (message === undefined) throw new AppError("bad_request", "The request is empty.");
  if (message.$case !== "batch") return message;
  throw new AppError("bad_request", "A batch holds no other one.");
}

function encode(message: ResponseMessage): Uint8Array {
  return TranscribeResponse.encode({ message }).finish();
}

function toResult(message: ResponseMessage): EncodedResult {
  return { kind: message.$case, bytes: encode(message) };
}

/** Most arrivals that are remembered; of a long upload the newest ones. */
const MAX_ARRIVALS = 1_024;

interface Arrival {
  /** End of the audio that arrived, in samples. */
  end: number;
  at: number;
  engineMs: number;
}

/** Measures how long the answers of one session take after the audio that they need has arrived. */
export class AnswerTimes {
  readonly #now: () => number;
  #arrivals: Arrival[] = [];

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Records that the audio up to `end`, or a message that ends an utterance there, has arrived; the
   * engine has worked for `engineMs` so far.
   */
  arrived(end: number, engineMs: number): void {
    while ((this.#arrivals.at(-1)?.end ?? -1) >= end) this.#arrivals.pop();
    this.#arrivals.push({ end, at: this.#now(), engineMs });
    if (this.#arrivals.length > MAX_ARRIVALS) this.#arrivals.shift();
  }

  /**
   * The time of an answer that needed the audio up to `end`; undefined when its arrival is not
   * known.
   */
  answered(end: number, engineMs: number): AnswerTime | undefined {
    const needed = this.#arrivals.findIndex((arrival) => arrival.end >= end);
    this.#arrivals.splice(0, Math.max(0, needed));
    const arrival = needed < 0 ? this.#arrivals.at(-1) : this.#arrivals[0];
    if (arrival === undefined) return undefined;
    const total = this.#now() - arrival.at;
    return { total: micros(total), engine: micros(engineMs - arrival.engineMs) };
  }
}

function micros(ms: number): number {
  return Math.min(0xffff_ffff, Math.max(0, Math.round(ms * 1_000)));
}
