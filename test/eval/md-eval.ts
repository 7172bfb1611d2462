import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DiarisationScore, SpokenTurn } from "./diarisation-score.ts";
import { formatRttm } from "./rttm.ts";

const TIMEOUT_MS = 60_000;
/**
 * Scores [0, `seconds`) of a recording with md-eval, overlap counted. Throws when it fails, or says
 * less than it does for a reference with speech.
 */
export function scoreWithMdEval(
  program: string,
  turns: { reference: readonly SpokenTurn[]; hypothesis: readonly SpokenTurn[]; seconds: number },
  collar = 0.25,
): Omit<DiarisationScore, "mapping"> {
  const folder = mkdtempSync(join(tmpdir(), "md-eval-"));
  try {
    writeFileSync(join(folder, "ref"), formatRttm("recording", turns.reference));
    writeFileSync(join(folder, "sys"), formatRttm("recording", turns.hypothesis));
    writeFileSync(join(folder, "uem"), `recording 1 0 ${turns.seconds}\n`);
    const args = ["-c", `${collar}`, "-r", "ref", "-s", "sys", "-u", "uem"];
    const printed = execFileSync(program, args, {
      cwd: folder,
      encoding: "utf8",
      timeout: TIMEOUT_MS,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return parse(printed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Times as printed, hundredths of a second; the rate has two digits of a percentage. */
function parse(printed: string): Omit<DiarisationScore, "mapping"> {
  const figure = (name: string): number => {
    const match = new RegExp(`${name} =\\s*(\\d+(?:\\.\\d+)?)`).exec(printed);
    if (match === null) throw new Error(`md-eval printed no ${name.toLowerCase()}`);
    return Number(match[1]);
  };
  return {
    scored: figure("SCORED SPEAKER TIME"),
    missed: figure("MISSED SPEAKER TIME"),
    falseAlarm: figure("FALARM SPEAKER TIME"),
    confusion: figure("SPEAKER ERROR TIME"),
    errorRate: figure("OVERALL SPEAKER DIARIZATION ERROR") / 100,
  };
}
