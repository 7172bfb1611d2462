import { createHash } from "node:crypto";
import type { AuditHead, AuditVerdict } from "./audit-directory.ts";

const FIRST = "00".repeat(32);

/** An entry with the text that its hash was made of. */
interface ChainEntry {
  seq: number;
  text: string;
  hash: string;
  previousHash: string;
}

/**
 * Checks a log entry by entry: numbers without gaps, each bound to the hash
 * before it, each hash right. Cutting off the end does not show in the chain
 * itself, so a head kept elsewhere can be given.
 */
export class AuditChain {
  readonly #known: AuditHead | undefined;
  #head: AuditHead | undefined;
  #problem: string | undefined;
  #brokenSeq: number | undefined;
  #knownSeen = false;
  #entries = 0;

  constructor(known?: AuditHead) {
    this.#known = known;
  }

  get broken(): boolean {
    return this.#problem !== undefined;
  }

  add(entry: ChainEntry): void {
    if (this.broken) return;
    const expected = (this.#head?.seq ?? 0) + 1;
    const problem = this.#problemOf(entry, expected);
    if (problem !== undefined) {
      this.#problem = problem;
      this.#brokenSeq = Math.min(entry.seq, expected);
      return;
    }
    if (entry.seq === this.#known?.seq && entry.hash === this.#known.hash) this.#knownSeen = true;
    this.#head = { seq: entry.seq, hash: entry.hash };
    this.#entries += 1;
  }

  #problemOf(entry: ChainEntry, expected: number): string | undefined {
    if (entry.seq !== expected) return `Entry ${expected} is missing.`;
    if (entry.previousHash !== (this.#head?.hash ?? FIRST)) {
      return `Entry ${entry.seq} does not follow from the one before it.`;
    }
    const hash = createHash("sha256").update(entry.text).digest("hex");
    return hash === entry.hash ? undefined : `Entry ${entry.seq} was changed.`;
  }

  verdict(): Omit<AuditVerdict, "protected"> {
    const lost =
      !this.broken && this.#known !== undefined && !this.#knownSeen
        ? `Entry ${this.#known.seq} is not there, or not with this hash.`
        : undefined;
    const problem = this.#problem ?? lost;
    return {
      valid: problem === undefined,
      entries: this.#entries,
      head: this.#head,
      brokenSeq: this.#brokenSeq ?? (lost === undefined ? undefined : this.#known?.seq),
      problem,
    };
  }
}
