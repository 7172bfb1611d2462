import type { AppError } from "../base/errors.ts";
import type { RecognisedSegment, RereadCommand } from "../session/command.ts";
import { segmentAt } from "../session/segments.ts";
import type { SessionState } from "../session/state.ts";
import type { Suspect } from "../session/suspect.ts";
import type { Gap } from "../session/timeline.ts";
import type { Opened, SpeakerUpdate, Utterance } from "../wire/gen/voice/v1/worker.ts";
import type { AudioSource } from "./audio-source.ts";
import { Reading } from "./reading.ts";
import { toSegment } from "./recognised.ts";
import type { Suspicion } from "./suspicion.ts";
import type { Transcribers } from "./transcribers.ts";
import type { TranscribeResult } from "./transcription-stream.ts";

/**
 * The second reading of what late audio changes: from the checkpoint that its
 * gap pinned until an utterance after it begins and ends where one of the first
 * reading does. Its result is one command.
 */
export class Rereading {
  readonly #parts: RereadingParts;
  readonly #gaps: Gap[];
  readonly #whole: boolean;
  readonly #from: number;
  readonly #until: number;
  readonly #attempt: number;
  readonly #reading: Reading;
  readonly #segments: RecognisedSegment[] = [];
  readonly #failed: { sequence: number; code: string; message: string }[] = [];

  constructor(state: Readonly<SessionState>, parts: RereadingParts) {
    this.#parts = parts;
    this.#gaps = state.timeline.gaps.filter((gap) => gap.chunkId !== undefined);
    this.#whole = state.redo !== undefined;
    this.#from = this.#whole ? 0 : Math.min(...this.#gaps.map((gap) => gap.pin));
    this.#until = this.#whole
      ? Number.MAX_SAFE_INTEGER
      : Math.max(...this.#gaps.map((gap) => gap.start + gap.length));
    this.#attempt = state.redo?.attempt ?? state.attempts + 1;
    this.#reading = new Reading({
      sessionId: state.sessionId,
      attempt: this.#attempt,
      // A redo has no checkpoints: it begins at the beginning.
      checkpointAttempt: this.#whole ? this.#attempt : state.attempt,
      language: state.language,
      interim: false,
      readFilled: true,
      source: parts.source,
      transcribers: parts.transcribers,
      suspicion: parts.suspicionOf(this.#attempt),
      timeline: () => state.timeline,
      complete: () => parts.complete(),
      onMessage: (message) => this.#hear(state, message),
      onSuspects: (suspects) => parts.onSuspects(this.#attempt, suspects),
      onEnd: (error) => parts.onFailed(error),
    });
  }

  start(): Promise<void> {
    return this.#reading.start(this.#from);
  }

  /** False when the redo that it was for is no longer wanted. */
  isWanted(state: Readonly<SessionState>): boolean {
    return !this.#whole || state.redo?.attempt === this.#attempt;
  }

  feed(): void {
    this.#reading.feed();
  }

  close(): void {
    this.#reading.close();
  }

  #hear(state: Readonly<SessionState>, message: TranscribeResult): void {
    if (message.$case === "opened") this.#parts.onOpened(message.value);
    else if (message.$case === "progress") {
      this.#parts.onProgress(this.#attempt, message.value.processedTo);
    } else if (message.$case === "utterance") this.#hearUtterance(state, message.value);
    else if (message.$case === "chunkFailed") this.#failed.push(message.value);
    else if (message.$case === "done") {
      this.#regroup(message.value.speakers);
      this.#finish(Number.MAX_SAFE_INTEGER);
    }
  }

  #hearUtterance(state: Readonly<SessionState>, utterance: Utterance): void {
    const first = utterance.segments[0];
    const last = utterance.segments.at(-1);
    if (first !== undefined && first.start >= this.#until) {
      const known = segmentAt(state.segments, first.start);
      if (known !== undefined && last !== undefined && known.end === first.end) {
        this.#finish(first.start);
        return;
      }
    }
    for (const segment of utterance.segments) this.#segments.push(toSegment(segment));
  }

  /** The final speaker pass of a whole reading decides before anything is shown. */
  #regroup(update: SpeakerUpdate | undefined): void {
    if (!this.#whole) return;
    const clusters = new Map(update?.segments.map(({ start, cluster }) => [start, cluster]));
    for (const segment of this.#segments) {
      segment.cluster = clusters.get(segment.start) ?? segment.cluster;
    }
  }

  #finish(to: number): void {
    this.#reading.close();
    const sequences = this.#gaps.map((gap) => gap.sequence);
    this.#parts.onDone(
      {
        type: "Reread",
        whole: this.#whole,
        attempt: this.#attempt,
        from: this.#from,
        to,
        sequences,
        segments: this.#segments,
      },
      this.#failed.filter((failure) => sequences.includes(failure.sequence)),
    );
  }
}

export interface RereadingParts {
  source: AudioSource;
  transcribers: Transcribers;
  suspicionOf(attempt: number): Suspicion;
  complete(): boolean;
  onSuspects(attempt: number, suspects: Suspect[]): void;
  onOpened(opened: Opened): void;
  /** Samples read so far. */
  onProgress(attempt: number, processedTo: number): void;
  onDone(
    command: RereadCommand,
    failed: { sequence: number; code: string; message: string }[],
  ): void;
  onFailed(error: AppError | undefined): void;
}
