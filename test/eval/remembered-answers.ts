import { createHash } from "node:crypto";
import type { PendingNumbers, VoiceAnalysis } from "../../workers/speakers/voice-analysis.ts";

/** The networks' answers by the sound: what is repeated is asked for once. */
export class RememberedAnswers implements VoiceAnalysis {
  readonly #inner: VoiceAnalysis;
  readonly #known = new Map<string, PendingNumbers>();

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
    return this.#answer("embed", pcm);
  }

  segment(pcm: Int16Array): PendingNumbers {
    return this.#answer("segment", pcm);
  }

  onNews(listener: (() => void) | undefined): void {
    this.#inner.onNews(listener);
  }

  #answer(kind: "embed" | "segment", pcm: Int16Array): PendingNumbers {
    const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    const key = `${kind} ${createHash("sha1").update(bytes).digest("base64")}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const asked = this.#inner[kind](pcm);
    const kept: PendingNumbers = {
      get numbers() {
        return asked.numbers;
      },
      settled: asked.settled,
      drop: () => undefined,
    };
    this.#known.set(key, kept);
    return kept;
  }
}
