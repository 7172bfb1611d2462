import type { RecognisedWord, Recogniser } from "./recogniser.ts";

/** A recogniser that the channels of a session use in turn, an utterance at a time. */
export class SharedRecogniser {
  readonly inner: Recogniser;
  #user: ChannelRecogniser | undefined;

  constructor(inner: Recogniser) {
    this.inner = inner;
  }

  get isFree(): boolean {
    return this.#user === undefined;
  }

  /** False while another channel uses it. */
  take(user: ChannelRecogniser): boolean {
    if (this.#user !== undefined && this.#user !== user) return false;
    this.#user = user;
    return true;
  }

  give(): void {
    this.#user = undefined;
  }
}

/**
 * The recogniser as one channel uses it: between its turns it keeps what was learnt of the channel.
 * All methods but `state` are allowed only within a turn.
 */
export class ChannelRecogniser implements Recogniser {
  readonly #shared: SharedRecogniser;
  #state: Uint8Array;
  #hasTurn = false;

  constructor(shared: SharedRecogniser, state: Uint8Array) {
    this.#shared = shared;
    this.#state = state;
  }

  /** Begins a turn; false while another channel has one. */
  take(): boolean {
    if (!this.#shared.take(this)) return false;
    this.#hasTurn = true;
    this.#inner.restore(this.#state);
    return true;
  }

  give(): void {
    this.#state = this.#inner.state();
    this.#hasTurn = false;
    this.#shared.give();
  }

  get engine(): string {
    return this.#inner.engine;
  }

  get engineVersion(): string {
    return this.#inner.engineVersion;
  }

  get confidenceFloor(): number | undefined {
    return this.#inner.confidenceFloor;
  }

  /** All channels have the session's vocabulary. */
  useVocabulary(phrases: readonly string[]): Promise<void> {
    return this.#inner.useVocabulary(phrases);
  }

  dropVocabulary(): void {
    this.#inner.dropVocabulary();
  }

  get knowsNoise(): boolean {
    return this.#inner.knowsNoise === true;
  }

  settle(): boolean {
    return this.#inner.settle?.() ?? true;
  }

  isAdapted(): boolean {
    return this.#inner.isAdapted();
  }

  calibrate(pcm: Int16Array): void {
    this.#inner.calibrate(pcm);
  }

  start(position: number): void {
    this.#inner.start(position);
  }

  feed(pcm: Int16Array): void {
    this.#inner.feed(pcm);
  }

  hypothesis(): RecognisedWord[] {
    return this.#inner.hypothesis();
  }

  finish(): RecognisedWord[] {
    return this.#inner.finish();
  }

  discard(): void {
    this.#inner.discard();
  }

  state(): Uint8Array {
    return this.#hasTurn ? this.#inner.state() : this.#state;
  }

  restore(state?: Uint8Array): void {
    this.#inner.restore(state);
  }

  /** The recogniser belongs to all channels: whoever took it gives it back. */
  close(): void {}

  get #inner(): Recogniser {
    return this.#shared.inner;
  }
}
