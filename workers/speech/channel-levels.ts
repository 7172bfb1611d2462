import { ACTIVITY_FRAME } from "../audio/speech-activity.ts";
import { meanSquare } from "./open-utterance.ts";

/** A channel that is this much quieter than another one is not heard: 15 dB, of mean squares. */
const FAR_QUIETER = 10 ** 1.5;
/** A channel that is quieter at all, by 3 dB, may carry the voice of the louder one. */
const QUIETER = 10 ** 0.3;
/** It does where its level rises and falls with the other's: their correlation in decibels. */
const SAME_VOICE = 0.85;
/** Frames over which levels are compared while nothing is recognised yet. */
const LEVEL_FRAMES = 3;
const CURVE_FRAMES = 13;
/** Frames before and after a word over which curves are compared. */
const CURVE_MARGIN = 6;
/** Mean square below which sound counts as silence: an amplitude of 10. */
const SILENCE = 100;

/**
 * The levels of a session's channels since the newest checkpoint, frame by frame, to keep a voice
 * out of the text of the other channels on which it is faintly heard.
 */
export class ChannelLevels {
  readonly #channels: number;
  /** Mean squares of each frame's channels, in order. */
  #squares: number[] = [];
  #from: number;

  constructor(channels: number, position: number) {
    this.#channels = channels;
    this.#from = position;
  }

  /** Takes the next frame of each channel. */
  push(frames: readonly Int16Array[]): void {
    for (const frame of frames) this.#squares.push(meanSquare(frame));
  }

  /** Forgets everything: the next frame begins at `position`. */
  beginAt(position: number): void {
    this.#squares = [];
    this.#from = position;
  }

  /** The level of the channel's frame that begins at `position`, a mean square. */
  at(channel: number, position: number): number {
    return this.#squares[this.#frame(position) * this.#channels + channel] ?? 0;
  }

  /** True when what the channel has in the newest frames up to `position` is another's voice. */
  isBleedAt(channel: number, position: number): boolean {
    const last = this.#frame(position) + 1;
    return (
      this.#isFarQuieter(channel, last - LEVEL_FRAMES, last) ||
      this.#follows(channel, last - CURVE_FRAMES, last)
    );
  }

  /** True when what the channel has in [start, end) is another's voice. */
  isBleed(channel: number, { start, end }: { start: number; end: number }): boolean {
    const first = this.#frame(start);
    const last = Math.max(first + 1, this.#frame(end));
    return (
      this.#isFarQuieter(channel, first, last) ||
      this.#follows(channel, first - CURVE_MARGIN, last + CURVE_MARGIN)
    );
  }

  #frame(position: number): number {
    return Math.floor((position - this.#from) / ACTIVITY_FRAME);
  }

  #isFarQuieter(channel: number, from: number, to: number): boolean {
    const sums = this.#sums(from, to);
    return Math.max(...sums) > FAR_QUIETER * (sums[channel] ?? 0);
  }

  /** True when a louder channel has the same curve. */
  #follows(channel: number, from: number, to: number): boolean {
    const own = this.#curve(channel, from, to);
    const sums = this.#sums(from, to);
    const level = QUIETER * (sums[channel] ?? 0);
    return sums.some(
      (sum, other) => sum > level && correlation(own, this.#curve(other, from, to)) > SAME_VOICE,
    );
  }

  #curve(channel: number, from: number, to: number): number[] {
    const curve: number[] = [];
    for (let frame = Math.max(0, from); frame < to; frame++) {
      const square = this.#squares[frame * this.#channels + channel];
      if (square !== undefined) curve.push(Math.log(square + SILENCE));
    }
    return curve;
  }

  #sums(from: number, to: number): number[] {
    const sums: number[] = new Array(this.#channels).fill(0);
    for (let at = Math.max(0, from) * this.#channels; at < to * this.#channels; at++) {
      const channel = at % this.#channels;
      sums[channel] = (sums[channel] ?? 0) + (this.#squares[at] ?? 0);
    }
    return sums;
  }
}

/** Pearson's; 0 for a curve that is flat. */
function correlation(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [mean(one), mean(other)];
  let [both, first, second] = [0, 0, 0];
  for (const [index, value] of one.entries()) {
    const [x, y] = [value - a, (other[index] ?? b) - b];
    both += x * y;
    first += x * x;
    second += y * y;
  }
  return first === 0 || second === 0 ? 0 : both / Math.sqrt(first * second);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
