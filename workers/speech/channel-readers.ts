import { channelOf } from "../../src/base/audio/pcm-samples.ts";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { MAX_CHANNELS } from "../../src/base/audio/wav.ts";
import type {
  Checkpoint,
  Hypothesis,
  Segment,
  Utterance,
} from "../../src/wire/gen/voice/v1/worker.ts";
import { ACTIVITY_FRAME, type SpeechActivity } from "../audio/speech-activity.ts";
import { ChannelLevels } from "./channel-levels.ts";
import { ChannelTracker } from "./channel-tracker.ts";
import { CheckpointPace } from "./checkpoint-pace.ts";
import type { ResponseMessage } from "./reader.ts";
import type { ChannelState } from "./reader-state.ts";
import type { Recogniser } from "./recogniser.ts";
import { UtteranceReader } from "./utterance-reader.ts";

/** Frames of all channels together that are processed in one step. */
const STEP_FRAMES = 10;
/** With more than this waiting on a channel, 1 s, its hypotheses are skipped. */
const PRESSED_FRAMES = 32;
const PROGRESS_INTERVAL = SESSION_RATE;
/** Without a common pause for this long, all channels are cut at once for a checkpoint. */
const LONGEST_UNCUT = 60 * SESSION_RATE;

type ActivityDetector = Pick<SpeechActivity, "take" | "pass" | "skip" | "state" | "restore">;

interface ChannelReadersOptions {
  position: number;
  /** One of both for each channel. */
  recognisers: readonly Recogniser[];
  activities: readonly ActivityDetector[];
  /** States of the channels at the position; a channel without one is new. */
  states: readonly ChannelState[];
  interimResults: boolean;
  isPressed: () => boolean;
  checkpointAt: (position: number) => Checkpoint;
}

interface Channel {
  readonly number: number;
  readonly reader: UtteranceReader;
  readonly activity: ActivityDetector;
  /** Frames that its reader has not taken yet. */
  queue: Int16Array[];
}

/**
 * Reads each channel of a session by itself: its words are those of one speaker.
 *
 * Each has a recogniser of its own. A voice that is faintly heard on other channels does not begin
 * an utterance there (`ChannelLevels`), and words of it within an utterance are left out.
 *
 * A checkpoint needs a place where no channel speaks. It is due after 20 s; without such a place
 * for 60 s, all are cut there. All that happens depends on the audio since the checkpoint alone,
 * never on how it came.
 */
export class ChannelReaders {
  readonly #options: ChannelReadersOptions;
  readonly #channels: readonly Channel[];
  readonly #levels: ChannelLevels;
  readonly #pace: CheckpointPace;
  #out: ResponseMessage[] = [];
  /** Samples after the last whole frame, interleaved. */
  #rest = new Int16Array(0);
  /** End of the whole frames that came. */
  #received: number;
  #processedTo: number;
  #checkpoint: number;
  /** All channels are being cut here: nothing behind it is read before. */
  #cutAt: number | undefined;

  constructor(options: ChannelReadersOptions) {
    const { position, activities, recognisers } = options;
    this.#options = options;
    this.#levels = new ChannelLevels(activities.length, position);
    this.#pace = new CheckpointPace(position);
    this.#received = position;
    this.#processedTo = position;
    this.#checkpoint = position;
    this.#channels = activities.flatMap((activity, number) => {
      const recogniser = recognisers[number];
      return recogniser === undefined ? [] : [this.#channel(number, activity, recogniser)];
    });
  }

  #channel(number: number, activity: ActivityDetector, recogniser: Recogniser): Channel {
    const { position, states, interimResults, isPressed } = this.#options;
    const state = states[number];
    if (state !== undefined) activity.restore(state.activity);
    const queue: Int16Array[] = [];
    const channel = { number, activity, queue };
    const reader: UtteranceReader = new UtteranceReader({
      position,
      recogniser,
      activity: {
        take: (frame) => {
          const { pcm, probability } = activity.take(frame);
          const isBleed = this.#levels.isBleedAt(number, reader.analysedTo);
          return { pcm, probability: isBleed ? 0 : probability };
        },
        pass: (samples) => activity.pass(samples),
        skip: () => activity.skip(),
        state: () => activity.state(),
      },
      tracker: new ChannelTracker(this.#options.activities.length, number),
      interimResults,
      pauses: state?.pauses,
      isPressed: () => isPressed() || channel.queue.length > PRESSED_FRAMES,
      sparseCheckpoints: true,
    });
    return { ...channel, reader };
  }

  get heardTo(): number {
    return this.position;
  }

  get position(): number {
    return this.#received + this.#rest.length / this.#channels.length;
  }

  /** What is kept of each channel now, at a checkpoint. */
  states(): ChannelState[] {
    return this.#channels.map(({ activity, reader }) => ({
      activity: activity.state(),
      pauses: reader.pauses(),
    }));
  }

  takeMessages(): ResponseMessage[] {
    const messages = this.#out;
    this.#out = [];
    return messages;
  }

  /** Takes the next samples of all channels, interleaved. */
  samples(pcm: Int16Array): void {
    const count = this.#channels.length;
    const audio = new Int16Array(this.#rest.length + pcm.length);
    audio.set(this.#rest);
    audio.set(pcm, this.#rest.length);
    const size = count * ACTIVITY_FRAME;
    let at = 0;
    for (; at + size <= audio.length; at += size) this.#take(audio.subarray(at, at + size));
    this.#rest = audio.slice(at);
    this.catchUp();
  }

  #take(interleaved: Int16Array): void {
    const count = this.#channels.length;
    const frames = this.#channels.map(({ number }) => channelOf(interleaved, number, count));
    this.#levels.push(frames);
    for (const { number, queue } of this.#channels) queue.push(frames[number] ?? new Int16Array());
    this.#received += ACTIVITY_FRAME;
  }

  /** True while audio that came can be read; then `catchUp` must be called before more is taken. */
  get isBehind(): boolean {
    return this.#cutAt !== undefined || this.#next() !== undefined;
  }

  /** True while an utterance of a channel has ended and its words are still to come. */
  get isPending(): boolean {
    return this.#channels.some(({ reader }) => reader.isPending);
  }

  /** True while an utterance of a channel may be about to end, or does. */
  get isEnding(): boolean {
    return this.#channels.some(({ reader }) => reader.isEnding);
  }

  /** Shows the words so far of every channel, where they are other ones than before. */
  showHypothesis(): void {
    for (const channel of this.#channels) {
      channel.reader.showHypothesis();
      this.#report(channel);
    }
  }

  /** Reads some of the waiting audio; about as much work as 100 ms of audio. */
  catchUp(): void {
    for (let left = STEP_FRAMES; left > 0; left -= 1) {
      const next = this.#next();
      if (next !== undefined) {
        // Reading again is the work of a whole step.
        if (next.reader.isBehind) left = 0;
        this.#advance(next);
      }
      const changed = next ?? this.#endOne();
      if (changed === undefined) return;
      this.#report(changed);
      this.#cutWhereDue();
    }
  }

  /** True while somebody is speaking at the end of the sound. */
  get isSpeaking(): boolean {
    return this.#channels.some(({ reader }) => reader.isSpeaking);
  }

  /**
   * Ends all utterances, because the sound breaks off. False while audio waits to be read for that:
   * `catchUp` as long as `isBehind`, then call it again.
   */
  breakOff(): boolean {
    if (this.#isEverybodyAt(this.#received) && !this.#isAnybodySpeaking) return true;
    this.#cutAt = this.#received;
    return false;
  }

  /** Audio up to `end` is missing. Allowed only after `breakOff`. */
  missing(end: number, isGap = false): void {
    this.#rest = new Int16Array(0);
    for (const channel of this.#channels) {
      channel.reader.missing(end);
      this.#report(channel);
    }
    this.#received = end;
    this.#levels.beginAt(end);
    if (isGap) this.#cut(end);
    this.progress();
  }

  /** Reports the position. Allowed only after `breakOff`. */
  finish(): void {
    for (const { reader } of this.#channels) reader.beginAnew();
    this.progress();
  }

  /** The channel that can go on: the one that is furthest behind, of several the loudest. */
  #next(): Channel | undefined {
    const behind = this.#channels.find(({ reader }) => reader.isBehind);
    if (behind !== undefined) return behind;
    const able = this.#channels.filter((channel) => this.#isAble(channel));
    return able.reduce<Channel | undefined>(
      (first, channel) => (first === undefined || this.#isBefore(channel, first) ? channel : first),
      undefined,
    );
  }

  #isAble({ reader, queue }: Channel): boolean {
    return queue.length > 0 && reader.position < (this.#cutAt ?? Number.POSITIVE_INFINITY);
  }

  #isBefore(one: Channel, other: Channel): boolean {
    const at = one.reader.position;
    if (at !== other.reader.position) return at < other.reader.position;
    return this.#levels.at(one.number, at) > this.#levels.at(other.number, at);
  }

  #advance({ reader, queue }: Channel): void {
    if (reader.isBehind) return reader.catchUp();
    const frame = queue.shift();
    if (frame !== undefined) reader.samples(frame);
  }

  /** Begins to end an utterance that is cut, when nothing can be read before the cut. */
  #endOne(): Channel | undefined {
    if (this.#cutAt === undefined) return undefined;
    const speaking = this.#channels.find(({ reader }) => reader.isInUtterance);
    speaking?.reader.endSoon();
    return speaking;
  }

  #cutWhereDue(): void {
    const [first] = this.#channels;
    if (first === undefined) return;
    const { position } = first.reader;
    const latest = Math.max(...this.#channels.map(({ reader }) => reader.position));
    if (latest - this.#checkpoint >= LONGEST_UNCUT) {
      this.#cutAt ??= latest;
    }
    if (!this.#isEverybodyAt(position)) return;
    const isCut = position === this.#cutAt && !this.#isAnybodySpeaking;
    const isPause = this.#channels.every(({ reader }) => reader.isIdle);
    if (isCut || (isPause && this.#pace.isDue(position))) this.#cut(position);
  }

  #isEverybodyAt(position: number): boolean {
    return this.#channels.every(({ reader }) => reader.position === position);
  }

  get #isAnybodySpeaking(): boolean {
    return this.#channels.some(({ reader }) => reader.isInUtterance);
  }

  /** Makes a checkpoint: what follows depends on it and on the audio behind it alone. */
  #cut(position: number): void {
    for (const { reader } of this.#channels) reader.beginAnew();
    this.#levels.beginAt(position);
    if (this.#received > position) this.#levelQueues();
    this.#pace.given(position);
    this.#checkpoint = position;
    this.#cutAt = undefined;
    const checkpoint = this.#options.checkpointAt(position);
    const last = this.#out.at(-1);
    if (last?.$case === "utterance" && last.value.end === position) {
      last.value = { ...last.value, checkpoint, finalisedTo: position };
      return;
    }
    const value = {
      start: position,
      end: position,
      segments: [],
      checkpoint,
      finalisedTo: position,
    };
    this.#out.push({ $case: "utterance", value: { ...value, speakers: undefined } });
  }

  /** The levels of the frames behind the checkpoint, which came already. */
  #levelQueues(): void {
    const [first] = this.#channels;
    for (let at = 0; at < (first?.queue.length ?? 0); at++) {
      this.#levels.push(this.#channels.map(({ queue }) => queue[at] ?? new Int16Array()));
    }
  }

  #finalisedTo(): number {
    return Math.min(...this.#channels.map(({ reader }) => reader.finalisedTo));
  }

  /** Passes on what the channel's reader says. */
  #report(channel: Channel): void {
    for (const message of channel.reader.takeMessages()) {
      if (message.$case === "hypothesis") this.#hypothesis(channel, message.value);
      else if (message.$case === "utterance") this.#final(channel, message.value);
      else if (message.$case === "speechStarted") {
        this.#out.push({ ...message, value: { ...message.value, channel: channel.number } });
      } else if (message.$case !== "progress") this.#out.push(message);
    }
    const latest = Math.max(this.#processedTo, channel.reader.position);
    const isDue =
      Math.floor(latest / PROGRESS_INTERVAL) > Math.floor(this.#processedTo / PROGRESS_INTERVAL);
    this.#processedTo = latest;
    if (isDue) this.progress();
  }

  #hypothesis({ number }: Channel, hypothesis: Hypothesis): void {
    const words = hypothesis.words.filter((word) => !this.#levels.isBleed(number, word));
    if (words.length === 0) return;
    const isWhole = words.length === hypothesis.words.length;
    const stableWords = isWhole ? hypothesis.stableWords : 0;
    const start = ownStart(hypothesis.start, number);
    const value = { ...hypothesis, start, words, stableWords, channel: number };
    this.#out.push({ $case: "hypothesis", value });
  }

  #final({ number }: Channel, utterance: Utterance): void {
    const segments = utterance.segments.flatMap((segment) => this.#own(segment, number));
    const value = { ...utterance, segments, finalisedTo: this.#finalisedTo() };
    this.#out.push({ $case: "utterance", value });
    this.progress();
  }

  /** The segment without the words of other channels; none when no word is left. */
  #own(segment: Segment, channel: number): Segment[] {
    const words = segment.words.filter((word) => !this.#levels.isBleed(channel, word));
    const last = words.at(-1);
    if (last === undefined) return [];
    const confidence = words.reduce((sum, word) => sum + word.confidence, 0) / words.length;
    const start = ownStart(segment.start, channel);
    return [{ ...segment, start, end: last.end, words, confidence, channel }];
  }

  /** Reports the position. */
  progress(): void {
    const value = { processedTo: this.#processedTo, finalisedTo: this.#finalisedTo() };
    this.#out.push({ $case: "progress", value });
  }
}

/** A start names a segment: those of different channels differ, by up to half a millisecond. */
function ownStart(start: number, channel: number): number {
  return start - (start % MAX_CHANNELS) + channel;
}
