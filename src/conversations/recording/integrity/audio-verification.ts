import type { Clock } from "../../../base/clock.ts";
import type { DamageKind } from "./file-damage.ts";
import type { ChunkPosition, ScrubTotals, StoredChunkStore } from "./stored-chunks-store.ts";
import type { VerifiedAudio } from "./verified-audio.ts";

const PAGE = 64;

interface DamagedChunk extends ChunkPosition {
  kind: DamageKind;
}

interface Portion {
  checked: ScrubTotals;
  damaged: DamagedChunk[];
  /** The last chunk that was looked at, behind which there may be more. */
  next?: ChunkPosition;
}

interface PortionOptions {
  after: ChunkPosition | undefined;
  /** One session only. */
  sessionId?: string | undefined;
  /** No further file is begun beyond either. */
  most: { bytes: number; ms: number };
  signal?: AbortSignal;
}

interface AudioVerificationOptions {
  chunks: Pick<StoredChunkStore, "page" | "bytes">;
  verified: Pick<VerifiedAudio, "check">;
  clock: Pick<Clock, "monotonic">;
}

/** Compares stored audio with what is on record, one bounded portion after the other. */
export class AudioVerification {
  readonly #options: AudioVerificationOptions;

  constructor(options: AudioVerificationOptions) {
    this.#options = options;
  }

  /** Length of all that there is to compare, in bytes. */
  total(sessionId?: string): Promise<number> {
    return this.#options.chunks.bytes(sessionId);
  }

  /** Looks at the chunks behind `after`. Throws `unavailable` when storage or database are away. */
  async portion({ after, sessionId, most, signal }: PortionOptions): Promise<Portion> {
    const { chunks, verified, clock } = this.#options;
    const endsAt = clock.monotonic() + most.ms;
    const checked = { chunks: 0, bytes: 0, damaged: 0 };
    const damaged: DamagedChunk[] = [];
    let at = after;
    for (;;) {
      const page = await chunks.page(PAGE, at, sessionId);
      for (const { sha256, ...place } of page) {
        const isEnough = checked.bytes >= most.bytes || clock.monotonic() >= endsAt;
        // One at least, so that it always comes to an end.
        if ((isEnough && checked.chunks > 0) || signal?.aborted) {
          return { checked, damaged, ...(at && { next: at }) };
        }
        const { damage, bytes } = await verified.check({ sessionId: place.sessionId, sha256 });
        if (damage !== undefined) damaged.push({ ...place, kind: damage.kind });
        checked.chunks += 1;
        checked.bytes += bytes;
        checked.damaged = damaged.length;
        at = place;
      }
      if (page.length < PAGE) return { checked, damaged };
    }
  }
}
