import type { Log } from "../../../base/log.ts";
import type { PeriodicWork } from "../../../base/work/periodic-task.ts";
import type { AudioVerification } from "./audio-verification.ts";
import type { StoredChunkStore } from "./stored-chunks-store.ts";

const EVERY_MS = 10_000;
/** Longest time of one portion; a slow disk is read the less. */
const PORTION_MS = 5_000;

interface AudioScrubOptions {
  verification: Pick<AudioVerification, "portion">;
  /** True in the one process that does it. */
  isOurs(): boolean;
  rounds: Pick<StoredChunkStore, "round" | "beginRound" | "addToRound">;
  bytesPerMinute: number;
  log: Log;
}

/**
 * Compares all stored audio with what is on record, in rounds that begin a day apart at least: a
 * disk that rots is noticed while there are backups yet. It goes on where it was, whichever host
 * takes it over.
 */
export class AudioScrub {
  readonly #options: AudioScrubOptions;
  #bytes = 0;

  constructor(options: AudioScrubOptions) {
    this.#options = options;
  }

  /** Bytes that were compared by this process. */
  get bytes(): number {
    return this.#bytes;
  }

  readonly task: PeriodicWork = {
    every: EVERY_MS,
    waitsFirst: true,
    trouble: "stored audio could not be compared",
    run: async (signal) => {
      if (this.#options.isOurs()) await this.step(signal);
    },
  };

  /** Looks at the next portion, up to the file in hand when `signal` aborts; true when that ended a round. */
  async step(signal?: AbortSignal): Promise<boolean> {
    const { rounds, verification, bytesPerMinute, log } = this.#options;
    const round = await rounds.round();
    if (round?.hasEnded && round.isRecent) return false;
    const isNew = round === undefined || round.hasEnded;
    if (isNew) await rounds.beginRound();
    const bytes = (bytesPerMinute * EVERY_MS) / 60_000;
    const { checked, next } = await verification.portion({
      after: isNew ? undefined : round.after,
      most: { bytes, ms: PORTION_MS },
      ...(signal && { signal }),
    });
    this.#bytes += checked.bytes;
    if (signal?.aborted && next === undefined && checked.chunks === 0) return false;
    await rounds.addToRound(checked, next);
    if (next !== undefined) return false;
    const whole = await rounds.round();
    const { chunks, damaged } = whole ?? checked;
    if (chunks > 0) log.info({ chunks, bytes: whole?.bytes, damaged }, "stored audio compared");
    return true;
  }
}
