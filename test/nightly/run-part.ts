import { spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { LONGEST_MINUTES, type Part } from "./parts.ts";

const MINUTE_MS = 60_000;
/** For what a part has to stop after SIGTERM. */
const STOPPING_MS = 60_000;
const INTERRUPTS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of terminals begin with one
const COLOURS = /\u001b\[[0-9;]*[A-Za-z]/g;

export interface PartResult {
  readonly name: string;
  readonly ok: boolean;
  readonly minutes: number;
  /** What the part printed last, or why it failed. */
  readonly summary: string;
  readonly interrupted: boolean;
}

interface Ended {
  readonly code: number | null;
  readonly last: string;
  readonly interrupted: boolean;
  readonly late: boolean;
}

/** Runs one part to its end, at most `LONGEST_MINUTES`; what it prints is shown and kept in a file. */
export async function runPart(
  part: Part,
  { project, out }: { project: string; out: string },
): Promise<PartResult> {
  const startedAt = performance.now();
  const ended = await runCommand(part, project, join(out, `${part.name}.log`));
  const minutes = (performance.now() - startedAt) / MINUTE_MS;
  const missed = ended.code === 0 && part.marks ? missedMarks(join(project, part.marks)) : [];
  const problem = ended.late
    ? `stopped after ${LONGEST_MINUTES} minutes`
    : missed.length > 0
      ? `missed: ${missed.join("; ")}`
      : undefined;
  return {
    name: part.name,
    ok: ended.code === 0 && problem === undefined,
    minutes,
    summary: problem ?? ended.last,
    interrupted: ended.interrupted,
  };
}

async function runCommand(part: Part, project: string, file: string): Promise<Ended> {
  const log = createWriteStream(file);
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", ...part.command],
    {
      cwd: project,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let [last, interrupted, late] = ["", false, false];
  const take = (text: string) => {
    process.stdout.write(text);
    log.write(text);
    const lines = text.replaceAll(COLOURS, "").split("\n");
    last = lines.findLast((line) => line.trim() !== "")?.trim() ?? last;
  };
  child.stdout.setEncoding("utf8").on("data", take);
  child.stderr.setEncoding("utf8").on("data", take);
  const limit = setTimeout(() => {
    late = true;
    child.kill("SIGTERM");
  }, LONGEST_MINUTES * MINUTE_MS);
  const kill = setTimeout(() => child.kill("SIGKILL"), LONGEST_MINUTES * MINUTE_MS + STOPPING_MS);
  const interrupt = () => {
    interrupted = true;
    child.kill("SIGTERM");
  };
  for (const signal of INTERRUPTS) process.on(signal, interrupt);
  const code = await new Promise<number | null>((settle) => {
    child.on("error", (error) => {
      last = error.message;
      settle(1);
    });
    child.on("close", settle);
  });
  for (const signal of INTERRUPTS) process.off(signal, interrupt);
  clearTimeout(limit);
  clearTimeout(kill);
  log.end();
  await finished(log);
  return { code, last, interrupted, late };
}

interface Marked {
  readonly figure: string;
  readonly met?: boolean;
}

/** The figures of a report whose mark was missed; a report without any says nothing was measured. */
function missedMarks(file: string): string[] {
  const { rows = [] } = JSON.parse(readFileSync(file, "utf8")) as { rows?: readonly Marked[] };
  if (!rows.some(({ met }) => met !== undefined)) return ["every mark, as nothing was measured"];
  return rows.filter(({ met }) => met === false).map(({ figure }) => figure);
}
