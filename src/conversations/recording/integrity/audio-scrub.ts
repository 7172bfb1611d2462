import type { Log } from "../../../base/log.ts";
import type { Runtime } from "../../../base/runtime.ts";
import { TroubleLog } from "../../../base/trouble-log.ts";
import type { AudioVerification } from "./audio-verification.ts";
import type { StoredChunkStore } from "./stored-chunks-store.ts";

const EVERY_MS = 10_000;
/** Longest time of one portion; a slow disk is read the less. */
const PORTION_MS = 5_000;

interface AudioScrubOptions {
  verification: Pick<AudioVerification, "portion">;
  rounds: Pick<StoredChunkStore, "round" | "beginRound" | "addToRound">;
  /** True in the one process that does it. */
  isOurs(): boolean;
  bytesPerMinute: number;
  log: Log;
  runtime: Runtime;
}

/**
 * Compares all stored audio with what is on record, in rounds that begin a day apart at least: a
 * disk that rots is noticed while there are backups yet. It goes on where it was, whichever host
 * takes it over.
 */
export class AudioScrub {
  readonly #options: AudioScrubOptions;
  readonly #stop = new AbortController();
  readonly #trouble: TroubleLog;
  #loop: Promise<void> | undefined;
  #bytes = 0;

  constructor(options: AudioScrubOptions) {
    this.#options = options;
    const { log, runtime } = options;
    this.#trouble = new TroubleLog(log, "stored audio could not be compared", runtime);
  }

  /** Bytes that were compared by this process. */
  get bytes(): number {
    return this.#bytes;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Resolves when the file in hand is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#options.runtime.delay(EVERY_MS, this.#stop.signal);
      if (this.#stop.signal.aborted || !this.#options.isOurs()) continue;
      try {
        await this.step();
        this.#trouble.worked();
      } catch (error) {
        this.#trouble.failed(error);
      }
    }
  }

  /** Looks at the next portion; true when that ended a round. */
  async step(): Promise<boolean> {
    const { rounds, verification, bytesPerMinute, log } = this.#options;
    const round = await rounds.round();
    if (round?.hasEnded && round.isRecent) return false;
    const isNew = round === undefined || round.hasEnded;
    if (isNew) await rounds.beginRound();
    const bytes = (bytesPerMinute * EVERY_MS) / 60_000;
    const { checked, next } = await verification.portion({
      after: isNew ? undefined : round.after,
      most: { bytes, ms: PORTION_MS },
      signal: this.#stop.signal,
    });
    this.#bytes += checked.bytes;
    if (this.#stop.signal.aborted && next === undefined && checked.chunks === 0) return false;
    await rounds.addToRound(checked, next);
    if (next !== undefined) return false;
    const whole = await rounds.round();
    const { chunks, damaged } = whole ?? checked;
    if (chunks > 0) log.info({ chunks, bytes: whole?.bytes, damaged }, "stored audio compared");
    return true;
  }
}
