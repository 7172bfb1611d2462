import type { DurableTurn, Effects } from "../actor/actor.ts";
import { toSeconds } from "../base/audio/sample-rate.ts";
import { backOff } from "../base/back-off.ts";
import { type AppError, errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { TranscribeResult, Transcribers } from "../inference/transcription-stream.ts";
import type { RecognitionDoneCommand, SessionCommand } from "../session/command.ts";
import type { SessionEvent } from "../session/event.ts";
import { isAllPlaced } from "../session/redact-covered.ts";
import { isWithheld } from "../session/redaction.ts";
import { segmentId } from "../session/segments.ts";
import { interimLabel } from "../session/speakers.ts";
import type { SessionState } from "../session/state.ts";
import { isOver, type Suspect } from "../session/status.ts";
import type { SessionWrite } from "../session/write.ts";
import type { Progress, Utterance } from "../wire/gen/voice/v1/worker.ts";
import type { DeviceFrame, InterimResultsFrame, TransientFrame } from "../wire/live-frames.ts";
import type { AudioSource } from "./audio-source.ts";
import { type FinalTimes, noteTime } from "./final-times.ts";
import { FinalizeAnswers } from "./finalize-answers.ts";
import { type Beat, IdlePause } from "./idle-pause.ts";
import { type InterruptionCounts, Interruptions } from "./interruptions.ts";
import { type MeasurePart, PartMeasuring } from "./part-measuring.ts";
import { mayBeTheAudio, PoisonDetector } from "./poison-detector.ts";
import { QuietSound, SilenceBeats } from "./quiet-sound.ts";
import { endUnread, ReadProgress } from "./read-progress.ts";
import { heartbeatFrame, interimFrame, speechFrame, toProposal, toSegment } from "./recognised.ts";
import { Retranscriptions } from "./retranscriptions.ts";
import type { StreamTail, StreamTails } from "./stream-tail.ts";
import { TranscriptionRun } from "./transcription-run.ts";

const HEARTBEAT = 5_000;
/** Spread, so that of sessions that a worker's death ended the one at fault shows. */
const RETRIES = { firstMs: 200, mostMs: 5_000, spreadMs: 2_000 };

interface SessionRecognitionOptions {
  sessionId: string;
  source: AudioSource;
  transcribers: Transcribers;
  /** Streamed audio that is no chunk yet. */
  tails: StreamTails;
  log: Log;
  runtime: Runtime;
  /** Queues a command to the session; false when it is full or has stopped. */
  notify(command: SessionCommand): boolean;
  /** Sums up the workers' times. */
  times?: FinalTimes;
  /** Counts interrupted readings. */
  interruptions?: InterruptionCounts;
  /** The state of the recording device, if it is known. */
  device?(): DeviceFrame | undefined;
  /** Measures parts of streams; absent where none are taken. */
  measure?: MeasurePart;
  /** Called with how far the session was read, in samples, when that has changed. */
  readTo?(sessionId: string, samples: number): void;
  publish(frame: TransientFrame): void;
}

/**
 * Keeps a session's audio read: runs a reading while there is audio to read, sends commands for the
 * worker's results, and shows viewers hypotheses. A reading that breaks is repeated from the newest
 * checkpoint until it succeeds.
 */
export class SessionRecognition implements Effects<SessionState, SessionEvent, SessionWrite> {
  readonly #options: SessionRecognitionOptions;
  #state: Readonly<SessionState> | undefined;
  #seq = 0;
  #run: TranscriptionRun | undefined;
  #done: RecognitionDoneCommand | undefined;
  #retryAt: Timer | undefined;
  #retries = 0;
  /** The first reading found no place at a worker. */
  #isFirstWaiting = false;
  /** The newest checkpoint that was sent and is not known to be on record. */
  #reported: { attempt: number; position: number } | undefined;
  readonly #progress = new ReadProgress();
  readonly #suspicions = new Map<number, PoisonDetector>();
  readonly #interruptions: Interruptions;
  #heartbeat: Timer | undefined;
  #interim: InterimResultsFrame | undefined;
  readonly #quiet = new QuietSound();
  readonly #pause = new IdlePause();
  #stopped = false;
  #isStreamed = false;
  readonly #silence = new SilenceBeats();
  readonly #tail: StreamTail;
  readonly #second: Retranscriptions;
  readonly #measuring: PartMeasuring;
  readonly #ends: FinalizeAnswers;

  constructor(options: SessionRecognitionOptions) {
    this.#options = options;
    this.#tail = options.tails.open(options.sessionId);
    this.#interruptions = new Interruptions(options.sessionId, options.log, options.interruptions);
    const { sessionId: session_id } = options;
    this.#ends = new FinalizeAnswers((end) =>
      this.#publish({ type: "UtteranceEnd", session_id, end: toSeconds(end) }),
    );
    const parts = { ...options, notify: (command: SessionCommand) => this.#notify(command) };
    this.#measuring = new PartMeasuring(parts);
    this.#second = new Retranscriptions({
      ...parts,
      suspicionOf: (attempt) => this.#suspicionOf(attempt),
      isFirstRead: () => this.#done !== undefined,
      onSuspects: (attempt, suspects) => this.#suspect(attempt, suspects),
      onOpened: () => this.#goesOn(),
      // The final text of the first reading counts only after its end.
      onRead: () => this.#done !== undefined && this.#notify(this.#done),
      onFailed: (error) => this.#retry(error),
      onUnheeded: () => this.#state !== undefined && this.#sync(this.#state),
    });
  }

  start(state: Readonly<SessionState>, seq: number): void {
    this.#state = state;
    this.#seq = seq;
    this.#progress.startAt(state.checkpoint);
    this.#heartbeat = this.#options.runtime.every(HEARTBEAT, () => this.#beat());
    if (!isOver(state.phase) && state.phase !== "deleted") this.#followTail(state);
    this.#sync(state);
  }

  /** Reads streamed audio before it is a chunk. */
  #followTail(state: Readonly<SessionState>): void {
    const { source, sessionId, log } = this.#options;
    this.#tail.start(() => {
      this.#isStreamed = true;
      this.#pause.end();
      this.#sync(state);
    });
    if (state.timeline.next > 0) return;
    source.fragments(sessionId, 0, 0, 1).then(
      (fragments) => {
        this.#isStreamed ||= fragments.length > 0;
        this.#sync(state);
      },
      (error: unknown) => log.warn({ error: errorMessage(error) }, "streamed audio not readable"),
    );
  }

  after(turn: DurableTurn<SessionState, SessionEvent, SessionWrite>): void {
    this.#seq = turn.events.at(-1)?.seq ?? this.#seq;
    this.#noteRecorded(turn.writes);
    if (!this.#stopped) this.#sync(turn.state);
  }

  #noteRecorded(writes: readonly SessionWrite[]): void {
    const told = this.#reported;
    const isRecorded = writes.some(
      (write) =>
        write.type === "Checkpoint" &&
        write.attempt === told?.attempt &&
        write.position === told.position,
    );
    if (!isRecorded) return;
    this.#reported = undefined;
    this.#ends.recorded();
  }

  busy(): boolean {
    const isReading = this.#run !== undefined || this.#second.isOpen;
    return isReading || this.#retryAt !== undefined || this.#pause.isOn;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#measuring.stop();
    this.#heartbeat?.cancel();
    this.#retryAt?.cancel();
    this.#options.tails.close(this.#tail);
    this.#closeBoth();
  }

  /** Starts whatever the state asks for and is not running. */
  #sync(state: Readonly<SessionState>): void {
    if (this.#stopped) return;
    this.#measuring.sync(state);
    // A retranscription that waits for its retry does not hold up the first one.
    if (this.#retryAt !== undefined) return this.#run?.feed();
    const unread = state.phase === "recording" || state.phase === "processing";
    const hasAudio = state.timeline.next > 0 || this.#isStreamed;
    const isReadable = unread && hasAudio && this.#done === undefined;
    if (isReadable && !this.#pause.isStillOn(state)) this.#read(state);
    else this.#isFirstWaiting = false;
    if (unread) this.#completeChunks(state);
    this.#second.sync(state, !this.#isFirstWaiting);
    // The end is sent only when the retranscription has finished, too.
    if (this.#done !== undefined && unread && !this.#second.isRunning) this.#notify(this.#done);
  }

  #read(state: Readonly<SessionState>): void {
    if (this.#run !== undefined) return this.#run.feed();
    // It begins at the newest checkpoint on record: from an older one utterances end elsewhere.
    if (this.#reported?.attempt === state.attempt) return;
    const { source, transcribers, runtime } = this.#options;
    this.#run = new TranscriptionRun({
      runtime,
      sessionId: state.sessionId,
      attempt: state.attempt,
      checkpointAttempt: state.attempt,
      language: state.language,
      interim: true,
      readFilled: false,
      source,
      transcribers,
      tail: this.#tail,
      detector: this.#suspicionOf(state.attempt),
      timeline: () => state.timeline,
      complete: () => isAllPlaced(state),
      onMessage: (message) => this.#hear(state, message),
      onSuspects: (suspects) => this.#suspect(state.attempt, suspects),
      onFinalized: (position) => this.#ends.reached(position, this.#reported === undefined),
      onRoom: () => this.#tryAgain(),
      onEnd: (error) => this.#broken(error),
    });
    void this.#run.start(Number.MAX_SAFE_INTEGER);
  }

  #hear(state: Readonly<SessionState>, message: TranscribeResult): void {
    const sessionId = state.sessionId;
    switch (message.$case) {
      case "opened":
        this.#goesOn();
        if (!state.jobStarted) this.#notify({ type: "RecognitionOpened", ...message.value });
        this.#isFirstWaiting = false;
        return this.#sync(state);
      case "speechStarted":
        return this.#publish(speechFrame(sessionId, message.value));
      case "hypothesis": {
        if (!this.#tail.interim) return;
        const id = segmentId(sessionId, state.attempt, message.value.start);
        const speaker = interimLabel(state.speakers, message.value);
        const { start, end } = message.value;
        if (isWithheld(state, { start, end, label: speaker })) return;
        this.#interim = interimFrame(sessionId, id, message.value, speaker);
        return this.#publish(this.#interim);
      }
      case "utterance":
        return this.#hearUtterance(state, message.value);
      case "progress":
        return this.#hearProgress(state, message.value);
      case "chunkFailed":
        this.#notify({ type: "ChunkFailed", ...message.value });
        return;
      case "done":
        this.#progress.finalised(this.#run?.fedTo ?? 0);
        this.#done = {
          type: "RecognitionDone",
          attempt: state.attempt,
          speakers: toProposal(message.value.speakers),
        };
        return this.#sync(state);
    }
  }

  #hearUtterance(state: Readonly<SessionState>, utterance: Utterance): void {
    this.#interim = undefined;
    this.#silence.begin();
    this.#progress.processed(utterance.end);
    noteTime(utterance, this.#options);
    const { checkpoint, start, end, finalisedTo = end } = utterance;
    this.#progress.finalised(finalisedTo);
    const { attempt } = state;
    const isTold = this.#notify({
      type: "Utterance",
      attempt,
      segments: utterance.segments.map(toSegment),
      end,
      checkpoint,
      revised: toProposal(utterance.speakers),
      finalisedTo: this.#progress.finalisedTo,
    });
    if (isTold && checkpoint !== undefined) {
      this.#reported = { attempt, position: checkpoint.position };
    }
    if (start < end) this.#ends.ended(end, this.#run?.finalizeAt);
  }

  #hearProgress(state: Readonly<SessionState>, { processedTo, finalisedTo }: Progress): void {
    this.#progress.processed(processedTo);
    this.#progress.finalised(finalisedTo);
    this.#completeChunks(state);
    if (!this.#isStreamed || this.#interim !== undefined || !this.#silence.take()) return;
    this.#publish(heartbeatFrame(state, this.#seq, this.#readSoFar, this.#options.device?.()));
  }

  /**
   * Sends progress only when it completes a chunk; a streamed chunk may be final when it is placed.
   */
  #completeChunks(state: Readonly<SessionState>): void {
    const { finalisedTo } = this.#progress;
    const first = state.timeline.open[0];
    if (first === undefined || first.start + first.length > finalisedTo) return;
    this.#notify({ type: "Progress", attempt: state.attempt, finalisedTo });
  }

  #goesOn(): void {
    this.#retries = 0;
    this.#publish(this.#interruptions.ended());
  }

  #suspicionOf(attempt: number): PoisonDetector {
    const detector = this.#suspicions.get(attempt) ?? new PoisonDetector();
    this.#suspicions.set(attempt, detector);
    return detector;
  }

  #suspect(attempt: number, suspects: Suspect[]): void {
    const sequences = suspects.map(({ sequence }) => sequence);
    this.#options.log.warn({ attempt, sequences }, "a reading broke at these chunks");
    this.#notify({ type: "Suspected", attempt, suspects });
  }

  #broken(error: AppError | undefined): void {
    this.#run = undefined;
    this.#interim = undefined;
    if (error === undefined && this.#done !== undefined) return;
    if (error?.code === "overloaded") this.#giveWay();
    this.#retry(error);
    endUnread(this.#state, error, (command) => this.#notify(command));
  }

  /** Closes a retranscription, which must not keep the place at a worker that the first needs. */
  #giveWay(): void {
    this.#isFirstWaiting = true;
    if (this.#second.isRunning) this.#second.close();
  }

  #closeBoth(): void {
    this.#run?.close();
    this.#run = undefined;
    this.#second.close();
  }

  #retry(error: AppError | undefined): void {
    if (this.#stopped) return;
    this.#retries += 1;
    const random = mayBeTheAudio(error) ? () => this.#options.runtime.random() : undefined;
    const wait = backOff(this.#retries, RETRIES, random);
    this.#interruptions.log(error, this.#progress.processedTo, wait);
    this.#publish(this.#interruptions.began(error));
    this.#retryAt?.cancel();
    this.#retryAt = this.#options.runtime.after(wait, () => this.#tryAgain());
  }

  #tryAgain(): void {
    this.#retryAt?.cancel();
    this.#retryAt = undefined;
    if (this.#state !== undefined) this.#sync(this.#state);
  }

  /** Sends a command. If it cannot be queued, the reading begins again, so that nothing is lost. */
  #notify(command: SessionCommand): boolean {
    if (this.#stopped) return false;
    if (this.#options.notify(command)) return true;
    this.#options.log.error({ command: command.type }, "mailbox full, reading again");
    this.#closeBoth();
    this.#done = undefined;
    this.#pause.end();
    this.#retry(undefined);
    return false;
  }

  #publish(frame: TransientFrame | undefined): void {
    if (frame !== undefined && !this.#stopped) this.#options.publish(frame);
  }

  /** Ends the utterance of a silent stream, or of a device that is gone, behind a pause. */
  #endQuiet({ phase }: Readonly<SessionState>, device: DeviceFrame | undefined, at: Beat): void {
    if (phase !== "recording") return;
    const isGone = device?.presence === "offline" || this.#isStreamed;
    if (this.#quiet.isToEnd({ fedTo: this.#fedTo, isGone, ...at })) this.#run?.endUtterance();
  }

  get #fedTo(): number {
    return this.#run?.fedTo ?? (this.#pause.isOn ? this.#pause.fedTo : 0);
  }

  get #readSoFar() {
    const { processedTo, finalisedTo } = this.#progress;
    return { fedTo: this.#fedTo, processedTo, finalisedTo };
  }

  #beat(): void {
    const state = this.#state;
    if (state === undefined || isOver(state.phase)) return;
    // Taken before the reading may be closed.
    const read = this.#readSoFar;
    const device = this.#options.device?.();
    const { runtime, transcribers } = this.#options;
    const at = { now: runtime.monotonic(), isCrowded: transcribers.isCrowded };
    this.#endQuiet(state, device, at);
    if (this.#pause.tryBegin(this.#run, state, read.finalisedTo, at)) this.#run = undefined;
    this.#progress.whenChanged((to) => this.#options.readTo?.(state.sessionId, to));
    this.#publish(heartbeatFrame(state, this.#seq, read, device));
  }
}
