import type { AppError } from "../base/errors.ts";
import type { RecognisedSegment, RereadCommand } from "../session/command.ts";
import { segmentAt } from "../session/segments.ts";
import type { SessionState } from "../session/state.ts";
import type { Gap } from "../session/timeline.ts";
import type { Utterance } from "../wire/gen/voice/v1/worker.ts";
import type { AudioSource } from "./audio-source.ts";
import { Reading } from "./reading.ts";
import { toSegment } from "./recognised.ts";
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
  readonly #from: number;
  readonly #until: number;
  readonly #attempt: number;
  readonly #reading: Reading;
  readonly #segments: RecognisedSegment[] = [];
  readonly #failed: { sequence: number; code: string; message: string }[] = [];

  constructor(state: Readonly<SessionState>, parts: RereadingParts) {
    this.#parts = parts;
    this.#gaps = state.timeline.gaps.filter((gap) => gap.chunkId !== undefined);
    this.#from = Math.min(...this.#gaps.map((gap) => gap.pin));
    this.#until = Math.max(...this.#gaps.map((gap) => gap.start + gap.length));
    this.#attempt = state.attempts + 1;
    this.#reading = new Reading({
      sessionId: state.sessionId,
      attempt: this.#attempt,
      checkpointAttempt: state.attempt,
      language: state.language,
      interim: false,
      readFilled: true,
      source: parts.source,
      transcribers: parts.transcribers,
      timeline: () => state.timeline,
      complete: () => parts.complete(),
      onMessage: (message) => this.#hear(state, message),
      onEnd: (error) => parts.onFailed(error),
    });
  }

  start(): Promise<void> {
    return this.#reading.start(this.#from);
  }

  feed(): void {
    this.#reading.feed();
  }

  close(): void {
    this.#reading.close();
  }

  #hear(state: Readonly<SessionState>, message: TranscribeResult): void {
    if (message.$case === "utterance") this.#hearUtterance(state, message.value);
    else if (message.$case === "chunkFailed") this.#failed.push(message.value);
    else if (message.$case === "done") this.#finish(state.timeline.position);
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

  #finish(to: number): void {
    this.#reading.close();
    const sequences = this.#gaps.map((gap) => gap.sequence);
    this.#parts.onDone(
      {
        type: "Reread",
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
  complete(): boolean;
  onDone(
    command: RereadCommand,
    failed: { sequence: number; code: string; message: string }[],
  ): void;
  onFailed(error: AppError | undefined): void;
}
