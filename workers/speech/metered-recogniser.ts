import type { RecognisedWord, Recogniser } from "./recogniser.ts";

/** Wraps a recogniser and measures its working time. */
export class MeteredRecogniser implements Recogniser {
  readonly #inner: Recogniser;
  #workMs = 0;
  #waitsSince: number | undefined;

  constructor(inner: Recogniser) {
    this.#inner = inner;
  }

  /** Time spent in the engine so far, milliseconds. */
  get workMs(): number {
    return this.#workMs;
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

  useVocabulary(phrases: readonly string[]): Promise<void> {
    return this.#inner.useVocabulary(phrases);
  }

  dropVocabulary(): void {
    this.#inner.dropVocabulary();
  }

  get knowsNoise(): boolean {
    return this.#inner.knowsNoise === true;
  }

  /** The wait for an engine that works elsewhere counts as its working time. */
  settle(): boolean {
    const isSettled = this.#metered(() => this.#inner.settle?.() ?? true);
    const now = performance.now();
    if (!isSettled) this.#waitsSince ??= now;
    else if (this.#waitsSince !== undefined) {
      this.#workMs += now - this.#waitsSince;
      this.#waitsSince = undefined;
    }
    return isSettled;
  }

  isAdapted(): boolean {
    return this.#inner.isAdapted();
  }

  calibrate(pcm: Int16Array): void {
    this.#metered(() => this.#inner.calibrate(pcm));
  }

  start(position: number): void {
    this.#metered(() => this.#inner.start(position));
  }

  feed(pcm: Int16Array): void {
    this.#metered(() => this.#inner.feed(pcm));
  }

  hypothesis(): RecognisedWord[] {
    return this.#metered(() => this.#inner.hypothesis());
  }

  finish(): RecognisedWord[] {
    return this.#metered(() => this.#inner.finish());
  }

  discard(): void {
    this.#metered(() => this.#inner.discard());
  }

  state(): Uint8Array {
    return this.#inner.state();
  }

  restore(state?: Uint8Array): void {
    this.#metered(() => this.#inner.restore(state));
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
