import type { AppError } from "../base/errors.ts";
import type { TranscribeResult, Transcribers } from "../inference/transcription-stream.ts";
import type { ReadingCheckpoint, RecognisedSegment, RereadCommand } from "../session/command.ts";
import { neededPoints, resumePoint } from "../session/resume-points.ts";
import type { Span } from "../session/segments.ts";
import type { SessionState } from "../session/state.ts";
import { isOver, type Suspect } from "../session/status.ts";
import { finalisedTo, type Gap, isLate, SAMPLE_RATE } from "../session/timeline.ts";
import type { Opened, SpeakerUpdate, Utterance } from "../wire/gen/voice/v1/worker.ts";
import type { AudioSource, StoredCheckpoint } from "./audio-source.ts";
import type { PoisonDetector } from "./poison-detector.ts";
import { Reading } from "./reading.ts";
import { agreedEnd, agreement, nextStretch, type Stretch, sameStart } from "./stretched-time.ts";

/** What may be under way to the worker behind the late audio: what it is told is told each second. */
const AHEAD = 4 * SAMPLE_RATE;

/** So far behind the late audio the readings are to agree again; else it ends at the next pause. */
const TO_AGREE = 12 * SAMPLE_RATE;

interface End {
  position: number;
  /** So many segments come before it. */
  segments: number;
  /** End of the segment that begins there; undefined of a pause. */
  end?: number;
}

/**
 * The second reading of a stretch of late audio, from a checkpoint near it to
 * where it says again what stands there; or of the whole session. Its result is
 * one command; it stays until that has shown in the session's state.
 */
export class Rereading {
  readonly #options: RereadingOptions;
  readonly #redo: number | undefined;
  readonly #stretch: Stretch;
  readonly #attempt: number;
  readonly #reading: Reading;
  /** Late chunks that it was fed. */
  readonly #late = new Set<number>();
  /** Where the first of them begins. */
  #lateFrom = Number.MAX_SAFE_INTEGER;
  readonly #segments: RecognisedSegment[] = [];
  /** Starts of `segments` in the reading's own time. */
  readonly #starts: number[] = [];
  readonly #failed: { sequence: number; code: string; message: string }[] = [];
  readonly #unread: Span[] = [];
  readonly #ends: End[] = [];
  #checkpoints: ReadingCheckpoint[] = [];
  #from: StoredCheckpoint | undefined;
  #told: RereadCommand | undefined;

  /** Undefined when nothing is to be read again. */
  static of(state: Readonly<SessionState>, options: RereadingOptions): Rereading | undefined {
    const stretch = state.redo === undefined ? nextStretch(state) : WHOLE;
    return stretch && new Rereading(state, stretch, options);
  }

  private constructor(state: Readonly<SessionState>, stretch: Stretch, options: RereadingOptions) {
    this.#options = options;
    this.#redo = state.redo?.attempt;
    this.#stretch = { ...stretch };
    this.#attempt = this.#redo ?? state.attempts + 1;
    this.#reading = new Reading({
      sessionId: state.sessionId,
      attempt: this.#attempt,
      // A redo has no checkpoints: it begins at the beginning.
      checkpointAttempt: this.#redo ?? state.attempt,
      language: state.language,
      interim: false,
      readFilled: true,
      source: options.source,
      transcribers: options.transcribers,
      detector: options.suspicionOf(this.#attempt),
      timeline: () => state.timeline,
      complete: () => options.complete(),
      mayFeed: (fedTo, ahead) => this.#mayFeed(state, fedTo, ahead),
      onBegin: (checkpoint) => {
        this.#from = checkpoint;
      },
      onLate: (gap) => this.#includes(gap),
      onUnread: (span) => void this.#unread.push(span),
      onMessage: (message) => this.#hear(state, message),
      onSuspects: (suspects) => options.onSuspects(this.#attempt, suspects),
      onEnd: (error) => {
        // All was read, and the first reading is waited for.
        if (this.#ends.at(-1)?.position !== Number.MAX_SAFE_INTEGER) options.onFailed(error);
      },
    });
  }

  /** True until its result was told. */
  get isReading(): boolean {
    return this.#told === undefined;
  }

  start(): Promise<void> {
    return this.#reading.start(resumePoint(this.#stretch.start));
  }

  /** False when what it is for is done, or no longer wanted. */
  isWanted(state: Readonly<SessionState>): boolean {
    if (this.#redo !== undefined) return state.redo?.attempt === this.#redo;
    const late = state.timeline.gaps.filter(isLate);
    if (this.#told === undefined) return late.some((gap) => this.#isWithin(gap));
    const left = new Set(late.map(({ sequence }) => sequence));
    const { sequences } = this.#told;
    return sequences.length > 0 && sequences.every((sequence) => left.has(sequence));
  }

  /** There may be more to feed, or more that the first reading is through with. */
  feed(state: Readonly<SessionState>): void {
    if (this.#told !== undefined) return;
    this.#end(state);
    this.#reading.feed();
  }

  close(): void {
    this.#reading.close();
  }

  get #isWhole(): boolean {
    return this.#redo !== undefined;
  }

  #isWithin({ start, length }: Gap): boolean {
    return start < this.#stretch.until && start + length > this.#stretch.start;
  }

  /** Whatever late audio is come across is read with the rest; what only runs up to it is not read. */
  #includes({ sequence, start, length }: Gap): void {
    if (start + length <= (this.#from?.position ?? 0)) return;
    this.#late.add(sequence);
    this.#lateFrom = Math.min(this.#lateFrom, start);
    this.#stretch.until = Math.max(this.#stretch.until, start + length);
  }

  #mayFeed(state: Readonly<SessionState>, fedTo: number, ahead: number): boolean {
    if (this.#isWhole || fedTo < this.#stretch.until) return true;
    // It is through, and waits for the first reading to be.
    if (this.#ends.some((end) => this.#endAt(state, end) !== undefined)) return false;
    return ahead < AHEAD;
  }

  #hear(state: Readonly<SessionState>, message: TranscribeResult): void {
    if (this.#told !== undefined) return;
    switch (message.$case) {
      case "opened":
        return this.#options.onOpened(message.value);
      case "progress":
        this.#options.onProgress(this.#attempt, message.value.processedTo);
        return this.#mayEnd(state, message.value.finalisedTo);
      case "utterance":
        this.#take(state, message.value);
        return this.#mayEnd(state, message.value.end);
      case "chunkFailed":
        this.#failed.push(message.value);
        return;
      case "done":
        this.#regroup(message.value.speakers);
        this.#ends.push({ position: Number.MAX_SAFE_INTEGER, segments: this.#segments.length });
        return this.#end(state);
    }
  }

  #take(state: Readonly<SessionState>, { segments, checkpoint, speakers }: Utterance): void {
    const before = this.#segments.length;
    for (const segment of segments) {
      this.#starts.push(segment.start);
      this.#segments.push(this.#reading.time.segment(segment));
    }
    this.#regroup(speakers);
    const first = this.#segments[before];
    // All that has no room on the timeline stands at one place: nothing agrees there by its time.
    const isPlaced = !this.#reading.time.isWithinExcess(this.#starts[before] ?? 0);
    if (first !== undefined && isPlaced) {
      this.#ends.push({ position: first.start, end: first.end, segments: before });
    }
    if (this.#isWhole || checkpoint === undefined) return;
    const { position } = checkpoint;
    // One of a time of its own says nothing to another reading.
    if (this.#reading.time.placeOf(position).position !== position) return;
    if (this.#reading.isCutAt(position)) return;
    this.#checkpoints.push(checkpoint);
    this.#checkpoints = this.#needed(state);
  }

  /** Only those from which what is still missing would be read, and the newest. */
  #needed({ timeline, phase }: Readonly<SessionState>): ReadingCheckpoint[] {
    const gaps = timeline.gaps.filter((gap) => !isLate(gap) || !this.#isWithin(gap));
    const points = neededPoints({ timeline: { ...timeline, gaps }, phase });
    const needed = points.map((point) =>
      this.#checkpoints.findLast(({ position }) => position <= point),
    );
    return this.#checkpoints.filter((checkpoint) => needed.includes(checkpoint));
  }

  #mayEnd(state: Readonly<SessionState>, at: number): void {
    const { time } = this.#reading;
    // Late sound may be longer than its place: all of it is heard first.
    if (!this.#isWhole && !time.isWithinExcess(at)) {
      const { position } = time.placeOf(at);
      const isEnough = position >= this.#stretch.until + TO_AGREE;
      if (isEnough) this.#ends.push({ position, segments: this.#segments.length });
    }
    this.#end(state);
  }

  /**
   * It ends where it says again what stands, or at the latest where nothing that
   * stands reaches over, as soon as the first reading is through with that: until
   * then its words are still to come.
   */
  #end(state: Readonly<SessionState>): void {
    const isThrough = isOver(state.phase) || this.#options.isFirstRead();
    const final = finalisedTo(state.timeline, state.checkpoint);
    for (const end of this.#ends) {
      if (!isThrough && Math.min(end.position, state.timeline.position) > final) continue;
      const to = this.#endAt(state, end);
      if (to !== undefined) return this.#finish(state, to, this.#segments.slice(0, end.segments));
    }
  }

  #endAt(state: Readonly<SessionState>, { position: start, end }: End): number | undefined {
    if (start === Number.MAX_SAFE_INTEGER) return start;
    if (this.#isWhole || start < this.#stretch.until) return undefined;
    return end === undefined ? agreedEnd(state, start) : sameStart(state, { start, end });
  }

  /** What a whole reading finds out later about its voices counts before anything is shown. */
  #regroup(update: SpeakerUpdate | undefined): void {
    if (!this.#isWhole) return;
    const moved = new Map(update?.segments.map(({ start, cluster }) => [start, cluster]));
    const merged = new Map(update?.merges.map(({ from, into }) => [from, into]));
    for (const [index, segment] of this.#segments.entries()) {
      const { cluster } = segment;
      segment.cluster = moved.get(this.#starts[index] ?? -1) ?? merged.get(cluster) ?? cluster;
    }
  }

  /** What it says again before the late audio stays, with all that was found out about it since. */
  #finish(state: Readonly<SessionState>, to: number, segments: RecognisedSegment[]): void {
    this.#reading.close();
    const begin = this.#from?.position ?? 0;
    const { count, to: from } = this.#isWhole
      ? { count: 0, to: begin }
      : agreement(state, begin, segments, this.#lateFrom);
    const sequences = [...this.#late];
    this.#told = {
      type: "Reread",
      whole: this.#isWhole,
      ...(this.#redo === undefined ? {} : { attempt: this.#redo }),
      from,
      to,
      sequences,
      segments: segments.slice(count),
      agreed: segments.slice(0, count),
      unread: this.#unread,
      voices: this.#from === undefined ? {} : this.#from.voices,
      checkpoints: this.#checkpoints,
    };
    this.#options.onDone(
      this.#told,
      this.#failed.filter((failure) => sequences.includes(failure.sequence)),
    );
  }
}

const WHOLE: Stretch = { start: 0, until: Number.MAX_SAFE_INTEGER };

interface RereadingOptions {
  source: AudioSource;
  transcribers: Transcribers;
  suspicionOf(attempt: number): PoisonDetector;
  complete(): boolean;
  /** True when the first reading has said everything. */
  isFirstRead(): boolean;
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
