import type { AuditVerdict } from "../../api/records.ts";

/** Where a chain is followed from, or ended once: a number and the hash of its entry. */
export interface ChainPosition {
  readonly seq: number;
  readonly hash: string;
}

export type Proof =
  | {
      readonly kind: "right";
      readonly entries: number;
      readonly head: ChainPosition | undefined;
      readonly isProtected: boolean;
    }
  | {
      readonly kind: "wrong";
      readonly entries: number;
      readonly seq: number | undefined;
      readonly problem: string;
    };

/**
 * Follows the chain to its end, a part at a time: `ask` proves the part after a place, and `onPart`
 * hears how many entries were right so far. Stops at the first part that is not; throws what `ask`
 * throws, and the signal's reason.
 */
export async function proveChain(
  ask: (from: ChainPosition | undefined) => Promise<AuditVerdict>,
  onPart: (entries: number) => void,
  stop: AbortSignal,
): Promise<Proof> {
  let entries = 0;
  let from: ChainPosition | undefined;
  for (;;) {
    stop.throwIfAborted();
    const verdict = await ask(from);
    entries += verdict.entries;
    if (!verdict.valid) {
      const { broken_seq: seq, problem = "The chain is broken." } = verdict;
      return { kind: "wrong", entries, seq, problem };
    }
    onPart(entries);
    const { next, head, protected: isProtected } = verdict;
    if (next === undefined) return { kind: "right", entries, head, isProtected };
    if (from !== undefined && next.seq <= from.seq) throw new Error("The log does not go on.");
    from = next;
  }
}

/** `seq:hash` as it is kept elsewhere; undefined for anything else. */
export function headIn(text: string): string | undefined {
  const trimmed = text.trim().toLowerCase();
  return /^[1-9]\d{0,15}:[0-9a-f]{64}$/.test(trimmed) ? trimmed : undefined;
}
