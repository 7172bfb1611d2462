import type { Appended, Batch } from "../../../src/actor/journal.ts";
import type {
  AudioSource,
  PlacedChunk,
  StoredCheckpoint,
} from "../../../src/recognition/audio-source.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import type { SegmentText, SessionWrite } from "../../../src/session/write.ts";
import { MemoryJournal } from "../memory/memory-journal.ts";

interface Stored {
  sequence: number;
  samples: number;
  data: Buffer;
  start: number | undefined;
  length: number;
  status: string;
}

/** The record of one session: its journal, its chunks, its words, its checkpoints. */
export class LateRecord extends MemoryJournal<SessionEvent, SessionWrite> {
  readonly chunks = new Map<number, Stored>();
  readonly segments = new Map<string, SegmentText>();
  checkpoints: StoredCheckpoint[] = [];

  store(sequence: number, samples: number, data: Buffer): void {
    const place = { start: undefined, length: 0, status: "pending" };
    this.chunks.set(sequence, { sequence, samples, data, ...place });
  }

  override async append(batch: Batch<SessionEvent, SessionWrite>): Promise<Appended> {
    const appended = await super.append(batch);
    for (const write of batch.writes) this.#write(write);
    for (const { event } of batch.events) this.#project(event);
    return appended;
  }

  #write(write: SessionWrite): void {
    if (write.type === "SegmentText") this.segments.set(write.segmentId, write);
    if (write.type === "CheckpointsKept") this.#keep(write.keep);
    if (write.type !== "Checkpoint" && write.type !== "HandedOn") return;
    if (write.type === "HandedOn") {
      const { from, to } = write;
      this.checkpoints = this.checkpoints.filter(
        ({ position }) => position <= from || position >= to,
      );
    }
    for (const each of write.type === "Checkpoint" ? [write] : write.checkpoints) {
      const { position, voices } = each;
      const recogniser = Buffer.from(each.recogniser);
      const speakers = Buffer.from(each.speakers);
      this.checkpoints = this.checkpoints.filter((known) => known.position !== position);
      this.checkpoints.push({ position, recogniser, speakers, voices });
    }
    this.checkpoints.sort((a, b) => a.position - b.position);
    this.#keep(write.keep);
  }

  #keep(points: readonly number[]): void {
    const kept = points.map((point) => this.#newestAt(point));
    this.checkpoints = this.checkpoints.filter((each) => kept.includes(each));
  }

  #newestAt(point: number): StoredCheckpoint | undefined {
    return this.checkpoints.findLast(({ position }) => position <= point);
  }

  #project(event: SessionEvent): void {
    switch (event.type) {
      case "ChunkPlaced":
      case "GapFilled": {
        const chunk = this.chunks.get(event.sequence);
        if (chunk === undefined) throw new Error(`chunk ${event.sequence} is not stored`);
        chunk.start = event.start;
        chunk.length = event.length;
        chunk.status = "processing";
        return;
      }
      case "ChunkTranscribed":
      case "ChunkFailed": {
        const chunk = this.chunks.get(event.sequence);
        if (chunk !== undefined) chunk.status = event.type;
        return;
      }
      case "TranscriptReplaced": {
        const added = new Set(event.added.map(({ segmentId }) => segmentId));
        for (const { segmentId } of event.removed) {
          if (!added.has(segmentId)) this.segments.delete(segmentId);
        }
        return;
      }
      case "SegmentRevised": {
        const segment = this.segments.get(event.segmentId);
        if (segment === undefined) throw new Error("an edit of no segment");
        segment.label = event.label;
        if (event.editId === undefined) return;
        const { start, end } = segment;
        segment.words = [{ text: event.editId, start, end, confidence: 1 }];
      }
    }
  }

  source(): AudioSource {
    const placed = (): PlacedChunk[] =>
      [...this.chunks.values()]
        .flatMap(({ sequence, start, length, samples }) =>
          start === undefined
            ? []
            : [
                {
                  sequence,
                  start,
                  length,
                  samples,
                  mediaType: "test/words",
                  sha256: `${sequence}`,
                },
              ],
        )
        .sort((a, b) => a.sequence - b.sequence);
    return {
      opening: async ({ checkpointAttempt, position }) => {
        const checkpoint = checkpointAttempt === 1 ? this.#newestAt(position) : undefined;
        const from = checkpoint?.position ?? 0;
        const before = from === 0 ? undefined : placed().findLast(({ start }) => start <= from);
        const nothing = { suspects: [], vocabulary: [], interim: false };
        return { checkpoint, sequence: before?.sequence ?? 0, ...nothing };
      },
      placed: async (_id, from, limit) =>
        placed()
          .filter(({ sequence }) => sequence >= from)
          .slice(0, limit),
      bytes: async (_id, sha256) => this.chunks.get(Number(sha256))?.data ?? Buffer.alloc(0),
      noteDamage: async () => {},
      fragments: async () => [],
    };
  }
}
