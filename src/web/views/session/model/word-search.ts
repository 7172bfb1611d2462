import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { findWords, type Hit, type ShownLine, saidWords } from "./find-words.ts";

/** What somebody looks for in the words of the open session, and which of the hits they are at. */
export class WordSearch {
  readonly isOpen = signal(false);
  readonly query = signal("");
  readonly hits: ReadonlySignal<readonly Hit[]>;
  /** Place of the hit that is shown, from 0; -1 before the first. */
  readonly place = signal(-1);
  readonly current = computed(() => this.hits.value[this.place.value]);
  /** The same hits by their lines. */
  readonly byLine = computed(() => {
    const found = new Map<string, Hit[]>();
    for (const hit of this.hits.value) {
      const others = found.get(hit.lineId);
      if (others === undefined) found.set(hit.lineId, [hit]);
      else others.push(hit);
    }
    return found;
  });
  readonly #show: (hit: Hit) => void;
  readonly #lines: ReadonlySignal<readonly ShownLine[]>;

  /** @param show brings a hit's line into sight */
  constructor(lines: ReadonlySignal<readonly ShownLine[]>, show: (hit: Hit) => void) {
    this.#show = show;
    this.#lines = lines;
    this.hits = computed(() => (this.isOpen.value ? findWords(lines.value, this.query.value) : []));
  }

  open(): void {
    this.isOpen.value = true;
  }

  /** Words of a question that can be looked for here, because they were said. */
  saidOf(question: string): string[] {
    return saidWords(this.#lines.value, question);
  }

  close(): void {
    this.isOpen.value = false;
    this.place.value = -1;
  }

  /** Looks for other words; shows the first place. */
  search(query: string): void {
    this.query.value = query;
    this.place.value = -1;
    this.step(1);
  }

  /** To the next hit, or the one before: behind the last comes the first. */
  step(by: 1 | -1): void {
    const { length } = this.hits.value;
    if (length === 0) return;
    const from = this.place.value < 0 && by < 0 ? 0 : this.place.value;
    this.place.value = (from + by + length) % length;
    const hit = this.current.value;
    if (hit !== undefined) this.#show(hit);
  }
}
