import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { CALL_RATE, type CallMedia, TRACKS, type Track } from "./twilio-messages.ts";

const PER_MS = CALL_RATE / 1_000;
/** µ-law of a sample of nothing. */
const SILENCE = 0xff;
/** Times that are off by less go on without a gap, where no message is missing: samples. */
const SLACK = 40 * PER_MS;
/** For so long lost sound, and a track that is behind the other, are waited for: samples. */
const HOLD = 200 * PER_MS;
/** How far the times may run ahead of the sound in all, besides the time that passes: samples. */
const MOST_SILENCE = 60 * CALL_RATE;

/** So much memory is enough for most calls, samples. */
const LONG = HOLD * 4;

interface Span {
  from: number;
  to: number;
}

/** The sound of one track that has not left yet. Places are samples from the stream's beginning. */
class TrackLine {
  #sound = new Uint8Array(LONG).fill(SILENCE);
  /** Place of the first byte of `#sound`. */
  #from = 0;
  /** Where the next sound goes on. */
  end = 0;
  /** Number of the next message. */
  next = 1;
  /** Silence where messages are missing that may still come. */
  #gaps: Span[] = [];

  /** Up to here nothing more is expected. */
  get whole(): number {
    return this.#gaps[0]?.from ?? this.end;
  }

  append(at: number, sound: Uint8Array, isMissing: boolean): void {
    if (isMissing && at > this.end) this.#gaps.push({ from: this.end, to: at });
    this.#write(at, sound);
    this.end = at + sound.byteLength;
  }

  /** Puts sound that comes late into the gap that it left, if that has not left yet. */
  fill(at: number, sound: Uint8Array): void {
    const found = this.#gaps.findIndex(({ from, to }) => at < to && at + sound.byteLength > from);
    const gap = this.#gaps[found];
    if (gap === undefined) return;
    const from = Math.max(at, gap.from);
    const to = Math.min(at + sound.byteLength, gap.to);
    this.#write(from, sound.subarray(from - at, to - at));
    const left = [
      { from: gap.from, to: from },
      { from: to, to: gap.to },
    ];
    this.#gaps.splice(found, 1, ...left.filter((rest) => rest.to > rest.from));
  }

  /** Takes out what lies before the place; it is silence where nothing came. */
  cut(to: number): Uint8Array {
    this.#reach(to);
    const length = to - this.#from;
    const cut = this.#sound.slice(0, length);
    this.end = Math.max(this.end, to);
    this.#drop(length, this.end - to);
    this.#from = to;
    this.#gaps = this.#gaps
      .filter((gap) => gap.to > to)
      .map((gap) => ({ from: Math.max(gap.from, to), to: gap.to }));
    return cut;
  }

  /** Moves what is kept to the front; after a long silence into less memory. */
  #drop(length: number, kept: number): void {
    if (this.#sound.byteLength > LONG && kept <= LONG) {
      const short = new Uint8Array(LONG).fill(SILENCE);
      short.set(this.#sound.subarray(length, length + kept));
      this.#sound = short;
      return;
    }
    this.#sound.copyWithin(0, length);
    this.#sound.fill(SILENCE, this.#sound.byteLength - length);
  }

  #write(at: number, sound: Uint8Array): void {
    this.#reach(at + sound.byteLength);
    this.#sound.set(sound, at - this.#from);
  }

  #reach(end: number): void {
    const length = end - this.#from;
    if (length <= this.#sound.byteLength) return;
    const longer = new Uint8Array(length * 2).fill(SILENCE);
    longer.set(this.#sound);
    this.#sound = longer;
  }
}

/**
 * Puts the sound of a call's tracks together by its times: the frames that come out have one sample of
 * each track. Sound that does not come is silence, so that what is behind it keeps its time; what comes
 * out of order is put into its place while that is held, for 200 ms. Sound whose place has left already
 * follows what has left, unless it is one of a message that was missing: that is left out.
 */
export class CallTimeline {
  readonly #lines: ReadonlyMap<Track, TrackLine>;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #since: number;
  #sent = 0;
  #silence = 0;

  constructor(tracks: readonly Track[], clock: Pick<Clock, "monotonic">) {
    const inOrder = TRACKS.filter((track) => tracks.includes(track));
    this.#lines = new Map(inOrder.map((track) => [track, new TrackLine()]));
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /**
   * Takes the sound of a message; returns the frames that are complete. Throws `bad_request` for a
   * track that was not told, and for times that run away from the sound.
   */
  add({ track, chunk, timestamp, sound }: CallMedia): Uint8Array {
    const line = this.#lines.get(track);
    if (line === undefined) {
      throw new AppError("bad_request", `The start message did not tell the track ${track}.`);
    }
    const at = timestamp * PER_MS;
    if (chunk < line.next) {
      line.fill(at, sound);
      return this.#cut(this.#ready());
    }
    const isMissing = chunk > line.next;
    const isAhead = at > line.end + (isMissing ? 0 : SLACK);
    if (isAhead) this.#assertNear(at);
    line.append(isAhead ? at : line.end, sound, isMissing);
    line.next = chunk + 1;
    return this.#cut(this.#ready());
  }

  /** All that is left. */
  flush(): Uint8Array {
    return this.#cut(this.#front());
  }

  #front(): number {
    return Math.max(...[...this.#lines.values()].map(({ end }) => end));
  }

  #ready(): number {
    const whole = Math.min(...[...this.#lines.values()].map((line) => line.whole));
    return Math.max(this.#sent, whole, this.#front() - HOLD);
  }

  /** Few bytes must not become much silence. */
  #assertNear(at: number): void {
    this.#silence += Math.max(0, at - this.#front());
    const passed = (this.#clock.monotonic() - this.#since) * PER_MS;
    if (this.#silence <= MOST_SILENCE + passed) return;
    throw new AppError("bad_request", "The timestamps run ahead of the sound by more than 60 s.");
  }

  #cut(to: number): Uint8Array {
    const parts = [...this.#lines.values()].map((line) => line.cut(to));
    const length = to - this.#sent;
    this.#sent = to;
    const [only = new Uint8Array(0)] = parts;
    if (parts.length === 1) return only;
    const frames = new Uint8Array(length * parts.length);
    for (const [channel, part] of parts.entries()) {
      for (let at = 0; at < length; at += 1) {
        frames[at * parts.length + channel] = part[at] ?? SILENCE;
      }
    }
    return frames;
  }
}
