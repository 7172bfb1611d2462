import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WordErrors } from "./word-error-rate.ts";

export interface TextPair {
  readonly reference: readonly string[];
  readonly hypothesis: readonly string[];
}

export type ErrorCounts = Pick<
  WordErrors,
  "correct" | "substitutions" | "deletions" | "insertions" | "reference_words"
>;

const TIMEOUT_MS = 60_000;
/**
 * Scores pairs of texts with NIST sclite, each pair an utterance; the counts are per pair, in
 * order. Pairs need a reference of at least one word. Throws when sclite fails or says less.
 */
export function scoreWithSclite(program: string, pairs: readonly TextPair[]): ErrorCounts[] {
  const folder = mkdtempSync(join(tmpdir(), "sclite-"));
  try {
    const lines = (side: keyof TextPair) =>
      pairs.map((pair, i) => `${pair[side].join(" ")} (spk_${i})\n`).join("");
    writeFileSync(join(folder, "ref"), lines("reference"));
    writeFileSync(join(folder, "hyp"), lines("hypothesis"));
    const args = ["-r", "ref", "-h", "hyp", "-i", "rm", "-o", "pralign", "-n", "out"];
    execFileSync(program, args, { cwd: folder, timeout: TIMEOUT_MS, stdio: "ignore" });
    return parse(readFileSync(join(folder, "out.pra"), "utf8"), pairs);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function parse(report: string, pairs: readonly TextPair[]): ErrorCounts[] {
  const byIndex = new Map<number, ErrorCounts>();
  const entry = /id: \(spk_(\d+)\)\s+Scores: \(#C #S #D #I\) (\d+) (\d+) (\d+) (\d+)/g;
  for (const [, index, ...counts] of report.matchAll(entry)) {
    const [correct = 0, substitutions = 0, deletions = 0, insertions = 0] = counts.map(Number);
    const reference_words = correct + substitutions + deletions;
    byIndex.set(Number(index), { correct, substitutions, deletions, insertions, reference_words });
  }
  return pairs.map((_, i) => {
    const counts = byIndex.get(i);
    if (counts === undefined) throw new Error(`sclite gave no score for text ${i}`);
    return counts;
  });
}
