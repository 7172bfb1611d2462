import { createHash } from "node:crypto";
import type { ChatRequest } from "../../language-model/chat-client.ts";

interface Kept<T> {
  value: Promise<T>;
  until: number;
}

interface SectionMemoOptions {
  /** Most answers that are kept. */
  most: number;
  /** How long each is kept, milliseconds. */
  keptMs: number;
  now?: () => number;
}

/**
 * Proved answers of a model by what it was asked, for a while: the notes of a session are made by several
 * jobs, and again when it goes on or is corrected, and most of its sections are then as they were. Kept in
 * memory alone.
 */
export class SectionMemo<T> {
  readonly #kept = new Map<string, Kept<T>>();
  readonly #options: SectionMemoOptions;

  constructor(options: SectionMemoOptions) {
    this.#options = options;
  }

  /**
   * The answer that is kept or on its way, else the one that `make` gives. Rejects as `make` does, and then
   * keeps nothing; what another caller has given up is made anew.
   */
  async get(key: string, make: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      const { now = Date.now } = this.#options;
      const kept = this.#kept.get(key);
      if (kept === undefined || kept.until <= now()) return this.#make(key, make);
      try {
        return await kept.value;
      } catch (error) {
        signal.throwIfAborted();
        if (this.#kept.get(key) === kept) throw error;
      }
    }
  }

  #make(key: string, make: () => Promise<T>): Promise<T> {
    const { now = Date.now, most, keptMs } = this.#options;
    const kept = { value: make(), until: now() + keptMs };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > most && oldest !== undefined) this.#kept.delete(oldest);
    kept.value.catch(() => {
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
    });
    return kept.value;
  }
}

/** A key for what a model is asked; it does not reveal the text. */
export function keyOf(model: string, request: ChatRequest): string {
  const hash = createHash("sha256").update(JSON.stringify([model, request]));
  return hash.digest("base64url");
}
