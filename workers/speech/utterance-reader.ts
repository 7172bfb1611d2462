import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import type { Word } from "../../src/wire/gen/voice/v1/worker.ts";
import { ACTIVITY_FRAME } from "../audio/voice-activity.ts";
import { VoiceLikeness } from "../audio/voice-likeness.ts";
import type { SpeakerTracker } from "../speakers/speaker-tracker.ts";
import { CheckpointPace } from "./checkpoint-pace.ts";
import { Endpointer, LEAD_FRAMES } from "./endpointer.ts";
import {
  crosses,
  isEstimateDue,
  isFresh,
  joined,
  LAST_ESTIMATE,
  meanSquare,
  type OpenUtterance,
  toUpdate,
  unreadFrames,
  wordsSaid,
} from "./open-utterance.ts";
import type { PauseState } from "./pause-wait.ts";
import type { ResponseMessage } from "./reader.ts";
import type { Recogniser } from "./recogniser.ts";
import { splitAtTurns } from "./speaker-segments.ts";
import { StablePrefix } from "./stable-prefix.ts";
import type { UtteranceReaderOptions } from "./utterance-options.ts";

/** Audio goes to the recogniser and the tracker in blocks of the timeline: 100 ms, in samples. */
const BLOCK = SESSION_RATE / 10;
const HYPOTHESIS_INTERVAL = SESSION_RATE / 5;
/** The channel is also estimated in a pause of this many frames, which may end the utterance. */
const PAUSE_FRAMES = 8;
/** New audio after which an estimate is still used at an utterance's end, in samples. */
const NEW_AT_END = 0.4 * SESSION_RATE;
/** Blocks that are read again in one step. */
const CATCH_UP_BLOCKS = 2;
const PROGRESS_INTERVAL = SESSION_RATE;
/** After this much silence a checkpoint is made, so that a resumed reading skips the silence. */
const SILENCE_CHECKPOINT = 20 * SESSION_RATE;
/** Frames before the newest one that the next utterance may still include. */
const KEPT_FRAMES = LEAD_FRAMES + Endpointer.beginFrames;

/**
 * Finds utterances in a stream of samples and reads them.
 *
 * The first utterance of a session is read again after 1 and 3 s and in pauses before that, each
 * time with the channel's mean estimated from all of its audio so far. This halved the wrong words
 * where a recording's channel is unlike the model's; more than 3 s gave no improvement. Pauses are
 * used because the reading then runs during the wait for the utterance's end.
 *
 * Audio is analysed in frames of 10 ms and read in blocks cut at multiples of 100 ms of the
 * timeline, both counted from where the reading began or an utterance ended. The results after a
 * checkpoint depend only on that checkpoint and the audio after it. So a checkpoint is made
 * wherever something else had an influence: where the client ended an utterance, and after a gap,
 * which late audio may have filled when it is read again.
 */
export class UtteranceReader {
  readonly #recogniser: Recogniser;
  readonly #activity: UtteranceReaderOptions["activity"];
  readonly #tracker: SpeakerTracker;
  readonly #endpointer: Endpointer;
  readonly #options: UtteranceReaderOptions;
  readonly #stable = new StablePrefix();
  readonly #pace: CheckpointPace;
  #out: ResponseMessage[] = [];
  /** End of the audio taken as frames; `#rest` follows it. */
  #position: number;
  #rest = new Int16Array(0);
  /** Audio before this position does not belong to a later utterance. */
  #floor: number;
  /** Frames that end at `#position`: those before speech, or those not read yet. */
  #held: Int16Array[] = [];
  #untracked: Int16Array[] = [];
  /** Unvoiced frames up to the newest one. */
  #pause = 0;
  #utterance: OpenUtterance | undefined;
  /** Blocks to be read again after a new estimate of the channel. */
  #backlog: Int16Array[] = [];
  /** Where the frame began that began an utterance, while it waits for the recogniser. */
  #waitsSince: number | undefined;

  constructor(options: UtteranceReaderOptions) {
    this.#options = options;
    this.#endpointer = new Endpointer(options.pauses);
    this.#recogniser = options.recogniser;
    this.#activity = options.activity;
    this.#tracker = options.tracker;
    this.#pace = new CheckpointPace(options.position);
    this.#position = options.position;
    this.#floor = options.position;
  }

  get position(): number {
    return this.#position;
  }

  /** What was learnt of the pauses so far. */
  pauses(): PauseState {
    return this.#endpointer.state();
  }

  /** Returns the messages since the last call. */
  takeMessages(): ResponseMessage[] {
    const messages = this.#out;
    this.#out = [];
    return messages;
  }

  /** Takes the next samples, any number. */
  samples(pcm: Int16Array): void {
    let audio = pcm;
    if (this.#rest.length > 0) {
      audio = new Int16Array(this.#rest.length + pcm.length);
      audio.set(this.#rest);
      audio.set(pcm, this.#rest.length);
    }
    let at = 0;
    const isStopped = () => this.isBehind || this.isWaiting;
    for (; at + ACTIVITY_FRAME <= audio.length && !isStopped(); at += ACTIVITY_FRAME) {
      this.#frame(audio.slice(at, at + ACTIVITY_FRAME));
    }
    this.#rest = audio.slice(at);
  }

  /** True while earlier audio waits to be read; then `catchUp` must be called. */
  get isBehind(): boolean {
    return this.#backlog.length > 0 || this.#utterance?.ending === true;
  }

  /** True while an utterance has ended and an engine that works elsewhere has not answered. */
  get isPending(): boolean {
    const isRead = this.#utterance?.ending === true && this.#backlog.length === 0;
    return isRead && this.#recogniser.settle?.() === false;
  }

  /** True while an utterance waits for the recogniser; then `goOn` must be called. */
  get isWaiting(): boolean {
    return this.#waitsSince !== undefined;
  }

  /** True within an utterance that is being read. */
  get isReading(): boolean {
    return this.#utterance !== undefined;
  }

  /** True where a checkpoint cuts nothing: no utterance is under way or may be about to begin. */
  get isAtRest(): boolean {
    if (this.isReading || this.isWaiting || this.isBehind) return false;
    return this.#position === this.#floor || this.#endpointer.silent;
  }

  /** True while the utterance may be about to end, or does: its final is waited for. */
  get isEnding(): boolean {
    return this.#utterance !== undefined && (this.#utterance.ending || this.#pause > 0);
  }

  /** Everything before it is covered by finals or holds no speech. */
  get finalisedTo(): number {
    const held = KEPT_FRAMES * ACTIVITY_FRAME;
    const silentTo = Math.max(this.#floor, this.#position - held);
    return this.#utterance?.start ?? silentTo;
  }

  /** Begins the utterance that waits, if the recogniser is free; false if not. */
  goOn(): boolean {
    const before = this.#waitsSince;
    if (before === undefined || this.#options.turns?.take() === false) return false;
    this.#waitsSince = undefined;
    this.#beginUtterance();
    this.#afterFrame(before);
    return true;
  }

  /** Begins to end the current utterance with the newest frame: `catchUp` until it has ended. */
  endSoon(): void {
    if (this.#utterance?.ending === false) this.#endUtterance();
  }

  /** What follows does not depend on what was before. Allowed only between utterances. */
  beginAnew(): void {
    this.#track();
    this.#restart();
  }

  /** Reads some of the waiting audio; about as much work as 100 ms of audio. */
  catchUp(): void {
    for (const block of this.#backlog.splice(0, CATCH_UP_BLOCKS)) this.#recogniser.feed(block);
    if (this.#backlog.length > 0) return;
    if (this.#utterance?.ending === true) this.#completeUtterance(this.#utterance);
    this.samples(new Int16Array(0));
  }

  /**
   * Ends the current utterance, because the sound breaks off, or because the client `isCut`s it.
   * False until it has ended: `catchUp` as long as `isBehind`, then call it again.
   */
  breakOff(isCut = false): boolean {
    const utterance = this.#utterance;
    if (utterance === undefined) return true;
    utterance.cut ||= isCut;
    if (!utterance.ending) {
      this.#takeRest();
      this.#endUtterance();
    }
    return this.#utterance === undefined;
  }

  /** Audio is missing; reading continues at `end`. Allowed only after `breakOff`. */
  missing(end: number, isGap = false): void {
    this.#takeRest();
    this.#track();
    this.#tracker.skip(end);
    this.#endpointer.skip();
    this.#position = end;
    const isWanted = this.#options.sparseCheckpoints && this.#options.checkpointAt !== undefined;
    if (isGap && isWanted) return this.#final(end, [], true);
    this.#restart();
    this.#progress();
  }

  /** The utterance has ended in `breakOff`. */
  finalize(): void {}

  /** Reports the position. Allowed only after `breakOff`. */
  finish(): void {
    this.#takeRest();
    this.#track();
    this.#restart();
    this.#progress();
  }

  #frame(frame: Int16Array): void {
    const isVoiced = this.#activity.isVoiced(frame);
    const endpoint = this.#endpointer.push(isVoiced, meanSquare(frame));
    this.#pause = isVoiced ? 0 : this.#pause + 1;
    const before = this.#position;
    this.#append(frame);
    if (endpoint === "begin" && this.#options.turns?.take() === false) {
      this.#waitsSince = before;
      return;
    }
    if (endpoint === "begin") this.#beginUtterance();
    this.#afterFrame(before, endpoint === "end");
  }

  /** @param before where the frame began */
  #afterFrame(before: number, isEnd = false): void {
    if (crosses(BLOCK, before, this.#position)) this.#readBlock();
    if (isEnd) return this.#endUtterance();
    if (this.#pause === PAUSE_FRAMES) this.#estimateInPause();
    if (crosses(HYPOTHESIS_INTERVAL, before, this.#position)) this.#hypothesis();
    if (crosses(PROGRESS_INTERVAL, before, this.#position)) this.#progress();
    if (this.#isLongSilence()) this.#silenceCheckpoint();
  }

  #append(frame: Int16Array): void {
    this.#position += frame.length;
    this.#untracked.push(frame);
    this.#held.push(frame);
    if (this.#utterance === undefined && this.#held.length > KEPT_FRAMES) this.#held.shift();
  }

  /** Takes the last samples, fewer than a frame: they are read, but not checked for voice. */
  #takeRest(): void {
    if (this.#rest.length === 0) return;
    const rest = this.#rest;
    this.#rest = new Int16Array(0);
    this.#append(rest);
  }

  #beginUtterance(): void {
    const held = this.#held.reduce((total, frame) => total + frame.length, 0);
    const start = this.#position - held;
    const open = { revision: 0, shown: "0 ", heard: 0, estimatedAt: 0, ending: false, cut: false };
    // The first utterance is read again as the channel's estimate improves.
    const blocks = this.#recogniser.isAdapted() ? undefined : [];
    this.#utterance = {
      start,
      before: this.#recogniser.state(),
      blocks,
      likeness: new VoiceLikeness(),
      ...open,
    };
    this.#recogniser.start(start);
    this.#stable.restart();
    const position = Math.max(start, this.#position - Endpointer.beginFrames * ACTIVITY_FRAME);
    this.#out.push({ $case: "speechStarted", value: { position } });
  }

  #readBlock(): void {
    this.#track();
    if (this.#utterance === undefined) return;
    const unread = unreadFrames(this.#utterance, this.#pause, this.#recogniser);
    const block = joined(this.#held.splice(0, this.#held.length - unread));
    this.#recogniser.feed(block);
    this.#utterance.likeness.push(block);
    if (this.#utterance.blocks === undefined || block.length === 0) return;
    this.#utterance.blocks.push(block);
    this.#utterance.heard += block.length;
    if (isEstimateDue(this.#utterance)) this.#estimate(this.#utterance);
  }

  #estimateInPause(): void {
    const utterance = this.#utterance;
    if (utterance?.blocks === undefined) return;
    this.#readBlock();
    if (!isFresh(utterance, 0)) this.#estimate(utterance);
  }

  /** Estimates the channel from the utterance so far, and has the utterance read again. */
  #estimate(utterance: OpenUtterance): void {
    const blocks = utterance.blocks ?? [];
    if (utterance.estimatedAt === utterance.heard) return;
    utterance.estimatedAt = utterance.heard;
    if (utterance.heard >= LAST_ESTIMATE && !utterance.ending) this.#sample();
    this.#recogniser.restore(utterance.before);
    this.#recogniser.calibrate(joined(blocks));
    this.#recogniser.start(utterance.start);
    this.#backlog = [...blocks];
    if (utterance.heard >= LAST_ESTIMATE) utterance.blocks = undefined;
  }

  /** Ends what is read again anyway, to see whether hypotheses can be believed. */
  #sample(): void {
    const hypothesis = this.#recogniser.hypothesis();
    this.#stable.sample(hypothesis, this.#recogniser.finish(), this.#position);
  }

  #track(): void {
    const audio = joined(this.#untracked);
    if (audio.length > 0) this.#tracker.push(this.#position - audio.length, audio);
    this.#untracked = [];
  }

  #endUtterance(): void {
    const utterance = this.#utterance;
    if (utterance === undefined) return;
    this.#readBlock();
    if (utterance.blocks !== undefined && !isFresh(utterance, NEW_AT_END)) {
      this.#estimate(utterance);
    }
    utterance.likeness.push(joined(this.#held.splice(0)));
    utterance.ending = true;
    if (this.#backlog.length === 0) this.#completeUtterance(utterance);
  }

  #completeUtterance(utterance: OpenUtterance): void {
    if (this.#recogniser.settle?.() === false) return;
    const words = wordsSaid(this.#recogniser, utterance, this.#position);
    // Audio without words was not speech, so its adaptation is undone.
    if (words.length === 0) this.#recogniser.restore(utterance.before);
    this.#stable.learn(words);
    this.#utterance = undefined;
    this.#final(utterance.start, words, utterance.cut);
    this.#options.turns?.give();
  }

  /** Emits the audio from `start` to the position as a final, with a checkpoint if one is due. */
  #final(start: number, words: Word[], isCut: boolean): void {
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
    if (isDue) this.#pace.given(end);
    const checkpoint = isDue ? this.#options.checkpointAt?.(end) : undefined;
    this.#out.push({ $case: "utterance", value: { start, end, segments, checkpoint, speakers } });
    this.#progress();
  }

  #restart(): void {
    this.#endpointer.reset();
    this.#floor = this.#position;
    this.#held = [];
  }

  #hypothesis(): void {
    const utterance = this.#utterance;
    if (utterance === undefined || this.isBehind || !this.#options.interimResults) return;
    if (this.#options.isPressed()) return;
    const words: Word[] = this.#recogniser.hypothesis();
    // An utterance that may be read again has no stable words.
    const isSettled = utterance.blocks === undefined;
    const stableWords = isSettled ? this.#stable.hear(words, this.#position) : 0;
    const shown = `${stableWords} ${words.map((word) => word.text).join(" ")}`;
    if (shown === utterance.shown) return;
    utterance.shown = shown;
    utterance.revision += 1;
    const cluster = this.#tracker.currentCluster();
    const { start, revision } = utterance;
    const value = { start, end: this.#position, revision, words, cluster, stableWords };
    this.#out.push({ $case: "hypothesis", value });
  }

  #progress(): void {
    const { finalisedTo } = this;
    this.#out.push({ $case: "progress", value: { processedTo: this.#position, finalisedTo } });
  }

  #isLongSilence(): boolean {
    if (this.#utterance !== undefined || !this.#endpointer.silent) return false;
    if (this.#options.checkpointAt === undefined) return false;
    return this.#position - this.#floor >= SILENCE_CHECKPOINT;
  }

  #silenceCheckpoint(): void {
    this.#track();
    this.#final(this.#floor, [], true);
  }
}
