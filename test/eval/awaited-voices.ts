import type { PendingNumbers, VoiceAnalysis } from "../../workers/speakers/voice-analysis.ts";

/** The networks, whose answers can be waited for, as a recording comes faster here than it is spoken. */
export class AwaitedVoices implements VoiceAnalysis {
  readonly #inner: VoiceAnalysis;
  readonly #asked = new Set<Promise<void>>();

  constructor(inner: VoiceAnalysis) {
    this.#inner = inner;
  }

  get name(): string {
    return this.#inner.name;
  }

  get vectorSize(): number {
    return this.#inner.vectorSize;
  }

  embed(pcm: Int16Array): PendingNumbers {
    return this.#noted(this.#inner.embed(pcm));
  }

  segment(pcm: Int16Array): PendingNumbers {
    return this.#noted(this.#inner.segment(pcm));
  }

  onNews(listener: (() => void) | undefined): void {
    this.#inner.onNews(listener);
  }

  /** Resolves when all that was asked is answered. */
  async answered(): Promise<void> {
    await Promise.all(this.#asked);
  }

  #noted(pending: PendingNumbers): PendingNumbers {
    this.#asked.add(pending.settled);
    void pending.settled.then(() => this.#asked.delete(pending.settled));
    return pending;
  }
}
