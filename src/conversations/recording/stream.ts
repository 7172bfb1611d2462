import { AppError, errorMessage, isAppError, toAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime, Timer } from "../../base/runtime.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import type { OutboxBacklog } from "../../postgres/outbox-backlog.ts";
import type { FragmentLog, FragmentLogs } from "./audio-files/fragment-logs.ts";
import type { ChunkAssembler, LiveFragments } from "./chunk-assembler.ts";
import type { CutAudio, StreamCutter } from "./stream-encoding.ts";
import { StreamHead, wantedSentence } from "./stream-head.ts";
import { PacketWatch } from "./stream-packets.ts";
import type {
  AudioStreamStore,
  PlannedFragment,
  StreamHold,
  StreamSettings,
  TakenStream,
} from "./stream-records.ts";

/** A streamed chunk holds about this many seconds. */
const CHUNK_SECONDS = 10;
const FRAGMENT_BYTES = 64 * 1024;
/** Above this many bytes that are not stored yet, the device is asked to slow down. */
export const SLOW_BYTES = 1024 * 1024;
export const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
/** So long storage that is away is tried again before the connection ends, milliseconds. */
const OUTAGE_MS = 20_000;
const RETRY_MS = 250;

export interface AudioStreamRouteOptions {
  store: AudioStreamStore;
  logs: Pick<FragmentLogs, "open" | "paceMs">;
  assembler: ChunkAssembler;
  live: LiveFragments;
  backlog: Pick<OutboxBacklog, "check">;
  notifier: CommandNotifier;
  runtime: Runtime;
  log: Log;
}

export interface AudioStreamEvents {
  /** Called when everything before `offset` bytes of the stream is durable. */
  onStored(offset: number): void;
  /** Called when packets came that no decoder can read, with their number so far. */
  onBroken?(packets: number): void;
  /** Called once, when nothing more is taken; the error is undefined after `close`. */
  onEnd(error: AppError | undefined): void;
}

interface OpenChunk {
  sequence: number;
  /** Where its fragments become durable, unless the record itself keeps them. */
  log: FragmentLog | undefined;
  fragments: number;
  frames: number;
  bytes: number;
  /** True when the chunk is old enough to end. */
  isDue: boolean;
  timer: Timer;
}

/**
 * One connection's audio into one session: cuts it into fragments, stores them, and sends each to the
 * session's actor when it is durable. One fragment is written at a time; audio that comes meanwhile
 * goes into the next one.
 */
export class AudioStream {
  readonly #hold: StreamHold;
  readonly #ports: AudioStreamRouteOptions;
  readonly #events: AudioStreamEvents;
  readonly #cutter: StreamCutter;
  readonly #settings: StreamSettings;
  readonly #packets = new PacketWatch();
  /** Set until the first bytes of the session's stream are known to be audio. */
  #head: StreamHead | undefined;
  #offset: number;
  #after: number | undefined;
  #next: number;
  #chunk: OpenChunk | undefined;
  #assembling: Promise<void> = Promise.resolve();
  #pumping: Promise<void> | undefined;
  #lastCut = 0;
  #finalizing = false;
  #ended = false;
  #closing = false;
  #overruns = 0;
  /** Sound that was stored by this connection, seconds, and how much may be besides what passes. */
  #seconds = 0;
  readonly #mostSeconds: number;
  readonly #since: number;

  constructor(taken: TakenStream, cutter: StreamCutter, parts: AudioStreamOptions) {
    this.#hold = { sessionId: taken.sessionId, epoch: taken.epoch };
    this.#offset = taken.offset;
    this.#after = taken.sequence;
    this.#next = taken.nextSequence;
    this.#cutter = cutter;
    this.#ports = parts.ports;
    this.#events = parts.events;
    this.#settings = taken.settings;
    this.#mostSeconds = taken.mostSeconds ?? Number.POSITIVE_INFINITY;
    this.#since = parts.ports.runtime.monotonic();
    if (taken.offset === 0) this.#head = new StreamHead(taken.settings);
  }

  get sessionId(): string {
    return this.#hold.sessionId;
  }

  get epoch(): number {
    return this.#hold.epoch;
  }

  /** Number of stream bytes that are stored. */
  get offset(): number {
    return this.#offset;
  }

  /** Sequence that a chunk may have which is uploaded after everything that is stored. */
  get nextSequence(): number {
    return this.#next;
  }

  /** How often more audio came than could be buffered. */
  get overruns(): number {
    return this.#overruns;
  }

  get buffered(): number {
    return this.#cutter.buffered + (this.#head?.held ?? 0);
  }

  /** True when some stored audio can be decoded. */
  get isReadable(): boolean {
    return this.#offset > 0 && (this.#settings.encoding !== "opus" || this.#packets.isReadable);
  }

  /**
   * Takes the next bytes of the stream. Throws `bad_request` for a malformed message, which is then
   * not taken; `overloaded` when far more came than could be stored; `unsupported_media_type` and
   * `not_audio` when the stream is not bare audio: the caller should end it then.
   */
  push(message: Uint8Array): void {
    if (this.#ended || this.#closing) return;
    if (this.buffered + message.byteLength > MAX_BUFFERED_BYTES) {
      this.#overruns += 1;
      throw new AppError("overloaded", "Audio comes faster than it can be stored.");
    }
    if (this.#head === undefined) return this.#accept([message]);
    const messages = this.#head.take(message);
    if (messages === undefined) return;
    this.#cutter.skip(this.#head.skipped);
    this.#head = undefined;
    this.#accept(messages);
  }

  /**
   * Records that the device no longer has these bytes; returns how many they are in whole frames.
   * Throws `conflict` when they are too many.
   */
  lose(bytes: number): number {
    this.#head = undefined;
    const whole = this.#cutter.lose(bytes);
    this.#pump();
    return whole;
  }

  /** Ends the current utterance after everything pushed before. */
  finalize(): void {
    this.#releaseHead();
    this.#finalizing = true;
    this.#pump();
  }

  /** Takes each message separately: one refused message does not keep the others out. */
  #accept(messages: readonly Uint8Array[]): void {
    const before = this.#packets.broken;
    let refusal: unknown;
    for (const message of messages) {
      try {
        this.#packets.add(this.#cutter.push(message), wantedSentence(this.#settings));
      } catch (error) {
        refusal ??= error;
      }
    }
    this.#pump();
    const { broken } = this.#packets;
    if (broken > before) this.#events.onBroken?.(broken);
    if (refusal !== undefined) throw refusal;
  }

  /** Passes on messages that were held back: too few bytes came to tell, so they count as audio. */
  #releaseHead(): void {
    const messages = this.#head?.release() ?? [];
    this.#head = undefined;
    try {
      if (messages.length > 0) this.#accept(messages);
    } catch (error) {
      const { sessionId } = this.#hold;
      const fields = { session_id: sessionId, error: errorMessage(error) };
      this.#ports.log.info(fields, "the first messages of a stream are no audio");
    }
  }

  /** Stores everything pushed and makes a chunk of it. Never rejects. */
  async close(): Promise<void> {
    if (!this.#ended) this.#releaseHead();
    this.#closing = true;
    this.#pump();
    while (this.#pumping !== undefined) await this.#pumping;
    this.#end(undefined);
    await this.#assembling;
  }

  /** Ends this stream because another connection took it over; unstored audio is dropped. */
  supersede(): void {
    this.#end(new AppError("superseded", "A newer connection took the stream over."));
  }

  #pump(): void {
    if (this.#pumping !== undefined || this.#ended) return;
    this.#pumping = this.#run()
      .catch((error: unknown) => this.#end(toAppError(error)))
      .finally(() => {
        this.#pumping = undefined;
      });
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#pace();
      if (this.#ended) return;
      const cut = this.#cutter.cut(FRAGMENT_BYTES);
      if (cut === undefined) break;
      this.#lastCut = this.#ports.runtime.monotonic();
      this.#seconds += cut.frames / this.#cutter.format.sampleRate;
      this.#checkTime();
      await this.#store(cut);
    }
    if (this.#finalizing) this.#tellFinalize();
    // The chunk became due while the next fragment was awaited, and none came.
    if (this.#chunk?.isDue) this.#endChunk(this.#chunk);
  }

  /** Throws `overloaded` for more sound than can have been recorded by now. */
  #checkTime(): void {
    const passed = (this.#lastCut - this.#since) / 1_000;
    if (this.#seconds <= this.#mostSeconds + passed) return;
    const message = "The session holds more sound than can have been recorded since it began.";
    throw new AppError("overloaded", message);
  }

  #tellFinalize(): void {
    this.#finalizing = false;
    const { sessionId } = this.#hold;
    const index = this.#chunk?.fragments ?? Number.MAX_SAFE_INTEGER;
    this.#ports.live.publish(sessionId, { kind: "finalize", sequence: this.#after ?? -1, index });
  }

  /**
   * Waits so that small messages share a commit. The first message after a pause and the last ones
   * go at once.
   */
  async #pace(): Promise<void> {
    const { runtime, logs } = this.#ports;
    const wait = this.#lastCut + logs.paceMs - runtime.monotonic();
    const isBehind = this.#cutter.buffered > FRAGMENT_BYTES;
    const isLast = this.#closing || this.#finalizing;
    if (wait > 0 && !isLast && !isBehind) await runtime.delay(wait);
  }

  async #store(cut: CutAudio): Promise<void> {
    const { format } = this.#cutter;
    const at = this.#chunk;
    const fragment = { format, ...cut };
    const chunk = await (at === undefined ? this.#begin(fragment) : this.#append(at, fragment));
    this.#ports.live.publish(this.sessionId, {
      kind: "fragment",
      sequence: chunk.sequence,
      index: chunk.fragments,
      format,
      startFrame: chunk.frames,
      startByte: chunk.bytes,
      frames: cut.frames,
      data: cut.data,
      interim: this.#settings.interim,
    });
    chunk.fragments += 1;
    chunk.frames += cut.frames;
    chunk.bytes += cut.data.byteLength;
    this.#offset += cut.streamBytes;
    this.#events.onStored(this.#offset);
    const isFull = chunk.frames >= CHUNK_SECONDS * format.sampleRate;
    if (isFull || chunk.isDue) this.#endChunk(chunk);
  }

  /** The bytes are durable before the record counts them. */
  async #append(chunk: OpenChunk, fragment: PlannedFragment): Promise<OpenChunk> {
    const { sequence, fragments, log } = chunk;
    const given = { ...fragment, sequence, index: fragments };
    const logged = { ...given, log: await log?.add(given) };
    await this.#recording(log, () => this.#ports.store.append(this.#hold, logged));
    return chunk;
  }

  async #begin(fragment: PlannedFragment): Promise<OpenChunk> {
    const { store, backlog, notifier, runtime, logs } = this.#ports;
    // While sessions cannot keep up, audio waits in the device.
    await this.#retrying(async () => backlog.check(this.#hold.sessionId));
    const log = logs.open(this.#hold.sessionId);
    const given = { ...fragment, log: await log?.add({ ...fragment, index: 0 }) };
    let tries = 0;
    const begin = () => {
      tries += 1;
      return store.begin(this.#hold, this.#after, given);
    };
    // What a try did whose answer was lost is not known.
    const begun = await this.#recording(log, begin, () => tries === 1);
    notifier.notify(begun.outbox);
    const chunk: OpenChunk = {
      sequence: begun.sequence,
      log: given.log === undefined ? undefined : log,
      ...{ fragments: 0, frames: 0, bytes: 0, isDue: false },
      timer: runtime.after(CHUNK_SECONDS * 1_000, () => {
        chunk.isDue = true;
        // While a fragment is being written, the chunk ends after it.
        if (this.#pumping === undefined) this.#endChunk(chunk);
      }),
    };
    this.#chunk = chunk;
    this.#after = begun.sequence;
    this.#next = begun.sequence + 1;
    return chunk;
  }

  /** Has the chunk assembled; never called while one of its fragments is being written. */
  #endChunk(chunk: OpenChunk): void {
    chunk.timer.cancel();
    if (this.#chunk !== chunk) return;
    this.#chunk = undefined;
    const open = { sessionId: this.sessionId, sequence: chunk.sequence };
    this.#assembling = this.#assembling.then(() => this.#ports.assembler.assemble(open));
  }

  /**
   * Nothing stays in the store of a session that was deleted meanwhile, nor of a chunk that was refused.
   *
   * @param isNew the record has nothing of the log when `work` is refused
   */
  async #recording<T>(
    log: FragmentLog | undefined,
    work: () => Promise<T>,
    isNew = () => false,
  ): Promise<T> {
    try {
      return await this.#retrying(work);
    } catch (error) {
      const isDeleted = isAppError(error, "session_deleted") || isAppError(error, "not_found");
      if (isDeleted || (isNew() && !isPassing(error))) await log?.remove();
      throw error;
    }
  }

  async #retrying<T>(work: () => Promise<T>): Promise<T> {
    const { runtime } = this.#ports;
    const until = runtime.monotonic() + OUTAGE_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isPassing(error) || this.#ended || runtime.monotonic() > until) throw error;
        await runtime.delay(RETRY_MS);
      }
    }
  }

  #end(error: AppError | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    // A newer connection assembles what it finds, and the sweep finds abandoned chunks.
    const mine = error === undefined || error.code === "session_ended";
    if (this.#chunk !== undefined && mine) this.#endChunk(this.#chunk);
    else this.#chunk?.timer.cancel();
    this.#events.onEnd(error);
  }
}

/** Whether the same may go well later; its outcome is not known. */
function isPassing(error: unknown): boolean {
  const passing = ["unavailable", "storage_full", "overloaded", "timeout"];
  return isAppError(error) && passing.includes(error.code);
}

interface AudioStreamOptions {
  ports: AudioStreamRouteOptions;
  events: AudioStreamEvents;
}
