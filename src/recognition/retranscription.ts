import type { AppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { TranscribeResult, Transcribers } from "../inference/transcription-stream.ts";
import type {
  RecognisedSegment,
  RetranscriptionCommand,
  TranscriptionCheckpoint,
} from "../session/command.ts";
import { neededPoints, resumePoint } from "../session/resume-points.ts";
import type { Span } from "../session/segments.ts";
import type { SessionState } from "../session/state.ts";
import { isOver, type Suspect } from "../session/status.ts";
import { finalisedTo, type Gap, isLate, SAMPLE_RATE } from "../session/timeline.ts";
import type { Opened, SpeakerUpdate, Utterance } from "../wire/gen/voice/v1/worker.ts";
import type { AudioSource, StoredCheckpoint } from "./audio-source.ts";
import type { PoisonDetector } from "./poison-detector.ts";
import { agreedEnd, agreement, nextStretch, type Stretch, sameStart } from "./stretched-time.ts";
import { TranscriptionRun } from "./transcription-run.ts";

/**
 * Most samples that may be under way to the worker behind the late audio; the worker reports about
 * once per second of sound.
 */
const AHEAD = 4 * SAMPLE_RATE;

/**
 * If the readings do not agree within this distance behind the late audio, the second one ends at
 * the next pause; samples.
 */
const TO_AGREE = 12 * SAMPLE_RATE;

interface End {
  position: number;
  /** How many segments come before it. */
  segments: number;
  /** End of the segment that begins there; undefined when the position is a pause. */
  end?: number;
}

/**
 * The retranscription of late audio, from a checkpoint near it to where it agrees with the existing
 * text again; or of the whole session. Its result is one command, and it stays until that shows in
 * the session's state.
 */
export class Retranscription {
  readonly #options: RetranscriptionOptions;
  readonly #redo: number | undefined;
  readonly #stretch: Stretch;
  readonly #attempt: number;
  readonly #run: TranscriptionRun;
  /** Sequences of the late chunks that it was fed. */
  readonly #late = new Set<number>();
  /** Start of the first of them. */
  #lateFrom = Number.MAX_SAFE_INTEGER;
  readonly #segments: RecognisedSegment[] = [];
  /** Speech within segments, with the segment of the same utterance whose voice it is. */
  readonly #overlaps = new Map<{ cluster: number }, RecognisedSegment>();
  /** Starts of `segments` in the reading's own time. */
  readonly #starts: number[] = [];
  readonly #failed: { sequence: number; code: string; message: string }[] = [];
  readonly #unread: Span[] = [];
  readonly #ends: End[] = [];
  #checkpoints: TranscriptionCheckpoint[] = [];
  /** Each channel of the sound is one speaker. */
  #hasChannels = false;
  #from: StoredCheckpoint | undefined;
  #reported: RetranscriptionCommand | undefined;

  /** Makes the retranscription that the state asks for; undefined when there is none. */
  static of(
    state: Readonly<SessionState>,
    options: RetranscriptionOptions,
  ): Retranscription | undefined {
    const stretch = state.redo === undefined ? nextStretch(state) : WHOLE;
    return stretch && new Retranscription(state, stretch, options);
  }

  private constructor(
    state: Readonly<SessionState>,
    stretch: Stretch,
    options: RetranscriptionOptions,
  ) {
    this.#options = options;
    this.#redo = state.redo?.attempt;
    this.#stretch = { ...stretch };
    this.#attempt = this.#redo ?? state.attempts + 1;
    this.#run = new TranscriptionRun({
      sessionId: state.sessionId,
      attempt: this.#attempt,
      // A redo has no checkpoints, so it starts at the beginning.
      checkpointAttempt: this.#redo ?? state.attempt,
      language: state.language,
      interim: false,
      readFilled: true,
      source: options.source,
      transcribers: options.transcribers,
      runtime: options.runtime,
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
        // All audio was read, and the result waits for the first reading.
        if (this.#ends.at(-1)?.position !== Number.MAX_SAFE_INTEGER) options.onFailed(error);
      },
    });
  }

  /** True until it has sent its result. */
  get isRunning(): boolean {
    return this.#reported === undefined;
  }

  start(): Promise<void> {
    return this.#run.start(resumePoint(this.#stretch.start));
  }

  /** False when its purpose is fulfilled or no longer wanted. */
  isWanted(state: Readonly<SessionState>): boolean {
    if (this.#redo !== undefined) return state.redo?.attempt === this.#redo;
    const late = state.timeline.gaps.filter(isLate);
    if (this.#reported === undefined) return late.some((gap) => this.#isWithin(gap));
    const left = new Set(late.map(({ sequence }) => sequence));
    const { sequences } = this.#reported;
    return sequences.length > 0 && sequences.every((sequence) => left.has(sequence));
  }

  /** Feeds more audio, or ends when the first reading has come far enough. */
  feed(state: Readonly<SessionState>): void {
    if (this.#reported !== undefined) return;
    this.#end(state);
    this.#run.feed();
  }

  close(): void {
    this.#run.close();
  }

  get #isWhole(): boolean {
    return this.#redo !== undefined;
  }

  #isWithin({ start, length }: Gap): boolean {
    return start < this.#stretch.until && start + length > this.#stretch.start;
  }

  /**
   * Includes other late audio on the way in the result, except a chunk that only runs up to the
   * checkpoint.
   */
  #includes({ sequence, start, length }: Gap): void {
    if (start + length <= (this.#from?.position ?? 0)) return;
    this.#late.add(sequence);
    this.#lateFrom = Math.min(this.#lateFrom, start);
    this.#stretch.until = Math.max(this.#stretch.until, start + length);
  }

  #mayFeed(state: Readonly<SessionState>, fedTo: number, ahead: number): boolean {
    if (this.#isWhole || fedTo < this.#stretch.until) return true;
    // It could end, and waits for the first reading.
    if (this.#ends.some((end) => this.#endAt(state, end) !== undefined)) return false;
    return ahead < AHEAD;
  }

  #hear(state: Readonly<SessionState>, message: TranscribeResult): void {
    if (this.#reported !== undefined) return;
    switch (message.$case) {
      case "opened":
        return this.#options.onOpened(message.value);
      case "progress":
        this.#options.onProgress(this.#attempt, message.value.processedTo);
        return this.#mayEnd(state, message.value.finalisedTo);
      case "utterance":
        this.#take(state, message.value);
        return this.#mayEnd(state, message.value.finalisedTo ?? message.value.end);
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
      this.#segments.push(this.#run.time.segment(segment));
    }
    const own = this.#segments.slice(before);
    for (const overlap of own.flatMap(({ overlaps = [] }) => overlaps)) {
      const voice = own.find(({ cluster }) => cluster === overlap.cluster);
      if (voice !== undefined) this.#overlaps.set(overlap, voice);
    }
    this.#regroup(speakers);
    if (segments.some(({ channel }) => channel !== undefined)) this.#hasChannels = true;
    const first = this.#segments[before];
    // All words without room on the timeline have the same place, so no agreement can be found
    // there.
    const isPlaced = !this.#run.time.isWithinExcess(this.#starts[before] ?? 0);
    if (first !== undefined && isPlaced && !this.#hasChannels) {
      this.#ends.push({ position: first.start, end: first.end, segments: before });
    }
    if (this.#isWhole || checkpoint === undefined) return;
    const { position } = checkpoint;
    // A checkpoint whose position is shifted against the timeline is of no use to another reading.
    if (this.#run.time.placeOf(position).position !== position) return;
    if (this.#run.isCutAt(position)) return;
    this.#checkpoints.push(checkpoint);
    this.#checkpoints = this.#needed(state);
  }

  /** The checkpoints from which audio that is still missing would be read. */
  #needed({ timeline, phase }: Readonly<SessionState>): TranscriptionCheckpoint[] {
    const gaps = timeline.gaps.filter((gap) => !isLate(gap) || !this.#isWithin(gap));
    const points = neededPoints({ timeline: { ...timeline, gaps }, phase });
    const needed = points.map((point) =>
      this.#checkpoints.findLast(({ position }) => position <= point),
    );
    return this.#checkpoints.filter((checkpoint) => needed.includes(checkpoint));
  }

  #mayEnd(state: Readonly<SessionState>, at: number): void {
    const { time } = this.#run;
    // Late sound may be longer than its place: all of it is read first.
    if (!this.#isWhole && !time.isWithinExcess(at)) {
      const { position } = time.placeOf(at);
      const isEnough = position >= this.#stretch.until + TO_AGREE;
      if (isEnough) this.#ends.push({ position, segments: this.#segments.length });
    }
    this.#end(state);
  }

  /**
   * Ends the reading where it agrees with the existing text again, or at the latest at a place that
   * no existing segment overlaps; but not before the first reading has finalised that place,
   * because its words are still to come until then.
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

  /** Applies later speaker revisions of a redo to its segments before any of them is shown. */
  #regroup(update: SpeakerUpdate | undefined): void {
    if (!this.#isWhole) return;
    const moved = new Map(update?.segments.map(({ start, cluster }) => [start, cluster]));
    const merged = new Map(update?.merges.map(({ from, into }) => [from, into]));
    const kept = new Set(merged.values());
    for (const [index, segment] of this.#segments.entries()) {
      const { cluster } = segment;
      segment.cluster = moved.get(this.#starts[index] ?? -1) ?? merged.get(cluster) ?? cluster;
      // It was measured against the cluster that is gone.
      if (segment.cluster !== cluster || kept.has(cluster)) delete segment.speakerConfidence;
    }
    for (const [overlap, { cluster }] of this.#overlaps) overlap.cluster = cluster;
  }

  /**
   * Sends the result. Segments before the late audio that agree with the existing text stay, with
   * all revisions since.
   */
  #finish(state: Readonly<SessionState>, to: number, segments: RecognisedSegment[]): void {
    this.#run.close();
    const begin = this.#from?.position ?? 0;
    // Segments of several channels overlap: all of them are replaced from the checkpoint on.
    const isReplaced = this.#isWhole || this.#hasChannels;
    const { count, to: from } = isReplaced
      ? { count: 0, to: begin }
      : agreement(state, begin, segments, this.#lateFrom);
    const sequences = [...this.#late];
    this.#reported = {
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
      this.#reported,
      this.#failed.filter((failure) => sequences.includes(failure.sequence)),
    );
  }
}

const WHOLE: Stretch = { start: 0, until: Number.MAX_SAFE_INTEGER };

interface RetranscriptionOptions {
  source: AudioSource;
  transcribers: Transcribers;
  runtime: Pick<Runtime, "delay">;
  suspicionOf(attempt: number): PoisonDetector;
  complete(): boolean;
  /** True when the first reading has finished. */
  isFirstRead(): boolean;
  onSuspects(attempt: number, suspects: Suspect[]): void;
  onOpened(opened: Opened): void;
  /** Called with the samples read so far. */
  onProgress(attempt: number, processedTo: number): void;
  onDone(
    command: RetranscriptionCommand,
    failed: { sequence: number; code: string; message: string }[],
  ): void;
  onFailed(error: AppError | undefined): void;
}
