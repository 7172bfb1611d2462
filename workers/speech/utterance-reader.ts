import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import type { Word } from "../../src/wire/gen/voice/v1/worker.ts";
import { ACTIVITY_FRAME } from "../audio/speech-activity.ts";
import type { SpeakerTracker } from "../speakers/speaker-tracker.ts";
import { CheckpointPace } from "./checkpoint-pace.ts";
import { cutOf, Endpointer, PAD_FRAMES, type PauseState } from "./endpointer.ts";
import { WaitMeter } from "./metered-recogniser.ts";
import {
  type AnalysedFrame,
  crosses,
  joined,
  lengthOf,
  meanSquare,
  type OpenUtterance,
  toUpdate,
  type UtteranceReaderOptions,
  withUnclear,
} from "./open-utterance.ts";
import type { ResponseMessage } from "./reader.ts";
import type { Recogniser } from "./recogniser.ts";
import { splitAtTurns } from "./speaker-segments.ts";
import { StablePrefix } from "./stable-prefix.ts";

/** Audio goes to the recogniser and the tracker in blocks of so many frames, about 100 ms. */
const BLOCK_FRAMES = 3;
const HYPOTHESIS_INTERVAL = SESSION_RATE / 10;
const PROGRESS_INTERVAL = SESSION_RATE;
/** After this much silence a checkpoint is made, so that a resumed reading skips the silence. */
const SILENCE_CHECKPOINT = 20 * SESSION_RATE;
/** Frames before the newest one that the next utterance may still include. */
const KEPT_FRAMES = PAD_FRAMES + Endpointer.beginFrames;

/**
 * Finds utterances in a stream of samples and has them read.
 *
 * Audio is analysed in frames of 32 ms, counted from where the reading began or was broken off. An
 * utterance ends a little behind its last speech, or is cut in an earlier dip when it is too long;
 * the frames behind its end are then taken again, with what the analysis found of them. So the
 * results after a checkpoint depend only on that checkpoint and the audio after it, and a
 * checkpoint is made wherever something else had an influence: where the client ended an
 * utterance, and after a gap, which late audio may have filled when it is read again.
 */
export class UtteranceReader {
  /** Of finals whose words are there, for the networks that hear who spoke. */
  readonly voicesWait = new WaitMeter();
  readonly #recogniser: Recogniser;
  readonly #activity: UtteranceReaderOptions["activity"];
  readonly #tracker: SpeakerTracker;
  readonly #endpointer: Endpointer;
  readonly #options: UtteranceReaderOptions;
  readonly #stable = new StablePrefix();
  readonly #pace: CheckpointPace;
  #out: ResponseMessage[] = [];
  /** End of the frames taken; those `#known` and then `#rest` follow it. */
  #position: number;
  /** Frames that were analysed, and come again behind an utterance's end. */
  #known: AnalysedFrame[] = [];
  #rest = new Int16Array(0);
  /** Audio before this position does not belong to a later utterance. */
  #floor: number;
  /** Frames that end at `#position`: those before speech, or those of the utterance. */
  #held: AnalysedFrame[] = [];
  /** How many of the utterance's frames the recogniser has. */
  #fed = 0;
  /** True while the frames of a pause wait: they are the utterance's only if speech goes on. */
  #withholds = false;
  #untracked: Int16Array[] = [];
  #trackedTo: number;
  #processedTo: number;
  #utterance: OpenUtterance | undefined;

  constructor(options: UtteranceReaderOptions) {
    this.#options = options;
    this.#endpointer = new Endpointer(options.pauses);
    this.#recogniser = options.recogniser;
    this.#activity = options.activity;
    this.#tracker = options.tracker;
    this.#pace = new CheckpointPace(options.position);
    this.#position = options.position;
    this.#floor = options.position;
    this.#trackedTo = options.position;
    this.#processedTo = options.position;
  }

  get position(): number {
    return this.#position;
  }

  /** End of all the audio that came. */
  get heardTo(): number {
    return this.analysedTo + this.#rest.length;
  }

  /** End of the frames that were analysed. */
  get analysedTo(): number {
    return this.#position + this.#known.length * ACTIVITY_FRAME;
  }

  /** What was learnt of the pauses so far. */
  pauses(): PauseState {
    return this.#endpointer.state();
  }

  /** Returns the messages since the last call. */
  takeMessages(): ResponseMessage[] {
    return this.#out.splice(0);
  }

  /** Takes the next samples, any number. */
  samples(pcm: Int16Array): void {
    this.#rest = joined([this.#rest, pcm]);
    this.#advance();
  }

  /** An utterance has ended and its words are not there: `catchUp` must be called. */
  get isBehind(): boolean {
    return this.#utterance?.ending !== undefined;
  }

  /** The same, and the engine or the networks for voices have not answered. */
  get isPending(): boolean {
    return this.#utterance?.ending !== undefined && !this.#isSettled(this.#utterance);
  }

  /** True within an utterance that is being read. */
  get isInUtterance(): boolean {
    return this.#utterance !== undefined;
  }

  /** The newest audio is speech, or a short pause behind it. */
  get isSpeaking(): boolean {
    return this.isInUtterance && !this.isBehind && this.#endpointer.pause < PAD_FRAMES;
  }

  /** True where a checkpoint cuts nothing: no utterance is under way or may be about to begin. */
  get isIdle(): boolean {
    if (this.isInUtterance) return false;
    return this.#position === this.#floor || this.#endpointer.silent;
  }

  /** True while the utterance may be about to end, or does: its final is waited for. */
  get isEnding(): boolean {
    return this.#utterance !== undefined && (this.isBehind || this.#endpointer.pause > 0);
  }

  /** Everything before it is covered by finals or holds no speech. */
  get finalisedTo(): number {
    const held = KEPT_FRAMES * ACTIVITY_FRAME;
    const silentTo = Math.max(this.#floor, this.#position - held);
    return this.#utterance?.start ?? silentTo;
  }

  /** Begins to end the current utterance with the newest frame: `catchUp` until it has ended. */
  endSoon(): void {
    if (this.#utterance?.ending === undefined) this.#endWith(this.#held.length);
  }

  /** What follows does not depend on what was before. Allowed only between utterances. */
  beginAnew(): void {
    this.#track();
    this.#restart();
  }

  /** Completes an utterance that has ended, once the engine has answered. */
  catchUp(): void {
    if (this.#utterance?.ending !== undefined) this.#completeUtterance(this.#utterance);
    this.#advance();
  }

  /**
   * Ends the current utterance, as the sound breaks off or the client `isCut`s it. False until it
   * has ended: `catchUp` as long as `isBehind`, then call it again.
   */
  breakOff(isCut = false): boolean {
    const utterance = this.#utterance;
    if (utterance === undefined) return true;
    if (utterance.ending === undefined) {
      utterance.cut = isCut;
      this.#takeRest();
      this.#endWith(this.#held.length);
    }
    return this.#utterance === undefined;
  }

  /** Audio is missing; reading continues at `end`. Allowed only after `breakOff`. */
  missing(end: number, isGap = false): void {
    this.#takeRest();
    this.#track();
    this.#endpointer.skip();
    this.#activity.skip();
    this.#position = end;
    this.#trackedTo = end;
    const isWanted = this.#options.sparseCheckpoints && this.#options.checkpointAt !== undefined;
    if (isGap && isWanted) return this.#final(end, [], true, this.#activity.state());
    this.#restart();
    this.progress();
  }

  /** Reports the position. Allowed only after `breakOff`. */
  finish(): void {
    this.#takeRest();
    this.#track();
    this.#restart();
    this.progress();
  }

  /** Shows the words so far, if they are other ones than before. */
  showHypothesis(): void {
    const utterance = this.#utterance;
    if (utterance === undefined || this.isBehind || !this.#options.interimResults) return;
    if (this.#options.isPressed()) return;
    const hypothesis = this.#recogniser.hypothesis();
    const words: Word[] = hypothesis.words;
    const stableWords = hypothesis.agreed ?? this.#stable.hear(words, this.#position);
    const shown = `${stableWords} ${words.map((word) => word.text).join(" ")}`;
    if (shown === utterance.shown) return;
    utterance.shown = shown;
    utterance.revision += 1;
    const cluster = this.#tracker.currentCluster();
    const about = { start: utterance.start, end: this.#position, revision: utterance.revision };
    this.#out.push({ $case: "hypothesis", value: { ...about, words, cluster, stableWords } });
  }

  #advance(): void {
    let at = 0;
    while (!this.isBehind) {
      const known = this.#known.shift();
      if (known !== undefined) this.#frame(known);
      else if (at + ACTIVITY_FRAME > this.#rest.length) break;
      else {
        this.#frame(this.#analyse(this.#rest.subarray(at, at + ACTIVITY_FRAME)));
        at += ACTIVITY_FRAME;
      }
    }
    this.#rest = this.#rest.slice(at);
  }

  #analyse(samples: Int16Array): AnalysedFrame {
    const { pcm, probability } = this.#activity.take(samples);
    return { pcm, probability, level: meanSquare(pcm), state: this.#activity.state() };
  }

  #frame(frame: AnalysedFrame): void {
    const before = this.#position;
    this.#append(frame);
    const endpoint = this.#endpointer.push(frame.probability);
    if (endpoint === "begin") this.#beginUtterance();
    else if (this.#utterance === undefined) this.#afterSilence();
    else if (endpoint === "end") this.#endWith(this.#withholds ? this.#fed : this.#held.length);
    else if (endpoint === "cut") this.#cutLong();
    else this.#afterSpeech(endpoint === "pause");
    if (this.isBehind) return;
    if (crosses(HYPOTHESIS_INTERVAL, before, this.#position)) this.showHypothesis();
    if (crosses(PROGRESS_INTERVAL, before, this.#position)) this.progress();
    if (this.#isLongSilence()) this.#silenceCheckpoint();
  }

  #append(frame: AnalysedFrame): void {
    this.#position += frame.pcm.length;
    this.#held.push(frame);
    if (this.#position > this.#trackedTo) this.#untracked.push(frame.pcm);
  }

  /** Takes the last samples, fewer than a frame: they are read, but not checked for speech. */
  #takeRest(): void {
    if (this.#rest.length === 0) return;
    const pcm = this.#activity.pass(this.#rest);
    this.#rest = new Int16Array();
    this.#append({ pcm, probability: 0, level: 0, state: this.#activity.state() });
  }

  #afterSilence(): void {
    if (this.#held.length >= KEPT_FRAMES) this.#held.shift();
    if (this.#untracked.length >= BLOCK_FRAMES) this.#track();
  }

  #beginUtterance(): void {
    const start = this.#position - lengthOf(this.#held);
    this.#utterance = { start, revision: 0, shown: "0 ", cut: false };
    [this.#fed, this.#withholds] = [0, false];
    this.#recogniser.start(start);
    this.#tracker.begin?.(start);
    this.#feed();
    this.#stable.restart();
    const position = Math.max(start, this.#position - Endpointer.beginFrames * ACTIVITY_FRAME);
    this.#out.push({ $case: "speechStarted", value: { position } });
  }

  #afterSpeech(isPause: boolean): void {
    if (this.#endpointer.pause === 0) this.#withholds = false;
    const isBlock = !this.#withholds && this.#held.length - this.#fed >= BLOCK_FRAMES;
    if (isPause || isBlock) this.#feed();
    if (isPause) {
      this.#withholds = true;
      this.#recogniser.mayEnd?.();
    }
    this.askForVoices();
  }

  /**
   * In a pause asks who spoke, as the utterance may have ended with it: then its end need not be waited
   * for. To be called again when there is news, as one answer leads to the next question.
   */
  askForVoices(): void {
    const utterance = this.#utterance;
    if (utterance === undefined || !this.#withholds || this.#options.isPressed()) return;
    const length = lengthOf(this.#held.slice(0, this.#fed));
    this.#tracker.settle?.(utterance.start, utterance.start + length);
  }

  /** Gives the recogniser and the tracker all frames that they do not have. */
  #feed(): void {
    this.#recogniser.feed(joined(this.#held.slice(this.#fed).map(({ pcm }) => pcm)));
    this.#fed = this.#held.length;
    this.#track();
  }

  #track(): void {
    const audio = joined(this.#untracked);
    if (audio.length > 0) this.#tracker.push(this.#position - audio.length, audio);
    this.#trackedTo = Math.max(this.#trackedTo, this.#position);
    this.#untracked = [];
  }

  /** Ends an utterance that is too long, in a dip if the engine can take back what it was given. */
  #cutLong(): void {
    this.#feed();
    // Behind a dip there is no checkpoint, as the tracker is ahead of it.
    const isOverdue = !this.#options.sparseCheckpoints || this.#pace.isOverdue(this.#position);
    const canTakeBack = this.#recogniser.truncate !== undefined && !isOverdue;
    this.#endWith(canTakeBack ? cutOf(this.#held) : this.#held.length);
  }

  /** The utterance consists of its first `count` frames; those behind it come again. */
  #endWith(count: number): void {
    const utterance = this.#utterance;
    if (utterance === undefined) return;
    if (count > this.#fed) this.#feed();
    const later = this.#held.splice(count);
    const length = lengthOf(this.#held);
    if (count < this.#fed) this.#recogniser.truncate?.(length);
    utterance.ending = this.#held.at(-1)?.state ?? this.#activity.state();
    this.#known.unshift(...later);
    this.#position = utterance.start + length;
    // They are tracked when they come again, those that are not tracked yet.
    this.#untracked = [];
    this.#completeUtterance(utterance);
  }

  #completeUtterance(utterance: OpenUtterance): void {
    if (utterance.ending === undefined || !this.#isSettled(utterance)) return;
    const words = withUnclear(this.#recogniser.finish(), this.#recogniser.confidenceFloor);
    this.#stable.learn(words);
    this.#utterance = undefined;
    this.#final(utterance.start, words, utterance.cut, utterance.ending);
  }

  /** True when words and voices of an utterance that has ended are there. Asks for both at once. */
  #isSettled({ start }: OpenUtterance): boolean {
    const isRead = this.#recogniser.settle?.() !== false;
    const isHeard = this.#tracker.settle?.(start, this.#position) !== false;
    this.voicesWait.sample(isRead && !isHeard);
    return isRead && isHeard;
  }

  /**
   * Emits the audio from `start` to the position as a final, with a checkpoint if one is due.
   *
   * @param activity state of the voice activity at the position
   */
  #final(start: number, words: Word[], isCut: boolean, activity: Uint8Array): void {
    const end = this.#position;
    const turns = words.length === 0 ? [] : this.#tracker.turns(start, end);
    const segments = splitAtTurns(start, words, turns);
    const committed = segments.map(({ start, end, cluster, speakerConfidence = 0 }) => {
      return { start, end, cluster, confidence: speakerConfidence };
    });
    this.#tracker.commit(committed, end);
    const speakers = words.length === 0 ? undefined : toUpdate(this.#tracker.revisions(), false);
    this.#restart();
    const isDue = isCut || !this.#options.sparseCheckpoints || this.#pace.isDue(end);
    const isWanted = isDue && this.#trackedTo === end;
    if (isWanted) this.#pace.given(end);
    const checkpoint = isWanted ? this.#options.checkpointAt?.(end, activity) : undefined;
    this.#out.push({ $case: "utterance", value: { start, end, segments, checkpoint, speakers } });
    this.progress();
  }

  #restart(): void {
    this.#endpointer.reset();
    this.#floor = this.#position;
    this.#held = [];
  }

  /** Reports the position. */
  progress(): void {
    const { finalisedTo } = this;
    this.#processedTo = Math.max(this.#processedTo, this.#position);
    this.#out.push({ $case: "progress", value: { processedTo: this.#processedTo, finalisedTo } });
  }

  #isLongSilence(): boolean {
    if (this.#utterance !== undefined || !this.#endpointer.silent) return false;
    if (this.#options.checkpointAt === undefined) return false;
    return this.#position - this.#floor >= SILENCE_CHECKPOINT;
  }

  #silenceCheckpoint(): void {
    this.#track();
    this.#final(this.#floor, [], true, this.#held.at(-1)?.state ?? this.#activity.state());
  }
}
