import type { Hypothesis, RecognisedWord, Recogniser } from "./recogniser.ts";

/** Sums up how long something that works elsewhere was waited for. */
export class WaitMeter {
  #ms = 0;
  #since: number | undefined;

  /** The waits that ended, milliseconds. */
  get ms(): number {
    return this.#ms;
  }

  /** Told at each poll whether it is still waited for. */
  sample(waits: boolean): void {
    const now = performance.now();
    if (waits) this.#since ??= now;
    else if (this.#since !== undefined) {
      this.#ms += now - this.#since;
      this.#since = undefined;
    }
  }
}

/** Wraps a recogniser and measures its working time. */
export class MeteredRecogniser implements Recogniser {
  readonly #inner: Recogniser;
  readonly truncate?: (samples: number) => void;
  readonly #waits = new WaitMeter();
  #workMs = 0;

  constructor(inner: Recogniser) {
    this.#inner = inner;
    if (inner.truncate !== undefined) this.truncate = (samples) => inner.truncate?.(samples);
  }

  /** Time spent in the engine so far, milliseconds. */
  get workMs(): number {
    return this.#workMs + this.#waits.ms;
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

  useVocabulary(phrases: readonly string[]): void {
    this.#inner.useVocabulary(phrases);
  }

  useLanguage(language: string): void {
    this.#inner.useLanguage?.(language);
  }

  /** The wait for an engine that works elsewhere counts as its working time. */
  settle(): boolean {
    const isSettled = this.#metered(() => this.#inner.settle?.() ?? true);
    this.#waits.sample(!isSettled);
    return isSettled;
  }

  onNews(listener: (() => void) | undefined): void {
    this.#inner.onNews?.(listener);
  }

  start(position: number): void {
    this.#metered(() => this.#inner.start(position));
  }

  feed(pcm: Int16Array): void {
    this.#metered(() => this.#inner.feed(pcm));
  }

  mayEnd(): void {
    this.#metered(() => this.#inner.mayEnd?.());
  }

  hypothesis(): Hypothesis {
    return this.#metered(() => this.#inner.hypothesis());
  }

  finish(): RecognisedWord[] {
    return this.#metered(() => this.#inner.finish());
  }

  discard(): void {
    this.#metered(() => this.#inner.discard());
  }

  close(): void {
    this.#inner.close();
  }

  #metered<T>(work: () => T): T {
    const begun = performance.now();
    try {
      return work();
    } finally {
      this.#workMs += performance.now() - begun;
    }
  }
}
