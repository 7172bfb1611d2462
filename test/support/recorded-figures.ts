/**
 * What the measuring commands found, in test/figures.md. Each command has a section, which its next run with
 * `--figures` replaces; nobody writes there by hand.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, relative, resolve } from "node:path";

const PROJECT = resolve(import.meta.dirname, "../..");
const FILE = join(PROJECT, "test/figures.md");
const FLAG = "--figures";
const GIT_MS = 10_000;

/** Taken out here, so that no command has to know it among its own options. */
const isWanted = takeFlag(process.argv);

/**
 * Writes `figures`, as they were printed, into the section of `command` with date, commit and machine;
 * without `--figures` nothing. `command` is what was run unless it is given, without the `--out` of a run.
 */
export function recordFigures(figures: string, command = commandOf(process.argv)): void {
  if (!isWanted) return;
  const page = readFileSync(FILE, "utf8");
  writeFileSync(
    FILE,
    withSection(page, command, `${describeRun()}\n\n\`\`\`text\n${figures.trim()}\n\`\`\`\n`),
  );
  process.stderr.write(`recorded in test/figures.md\n`);
}

/** The page with the section of this title replaced or put in among the others, by their titles. */
export function withSection(page: string, title: string, body: string): string {
  const [preface = "", ...sections] = page.split(/^## /m);
  const bodies = new Map(
    sections.map((section): [string, string] => {
      const end = section.indexOf("\n");
      return [section.slice(0, end), section.slice(end).trim()];
    }),
  );
  bodies.set(title, body.trim());
  const sorted = [...bodies].sort(([one], [other]) => (one < other ? -1 : 1));
  return [preface.trim(), ...sorted.map(([name, text]) => `## ${name}\n\n${text}`)]
    .join("\n\n")
    .concat("\n");
}

/** `npm run NAME -- OPTIONS` for the arguments of a process, as package.json names its script. */
export function commandOf([, script = "", ...options]: readonly string[]): string {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const path = relative(PROJECT, script);
  const [name] = Object.entries(scripts).find(([, command]) => command.endsWith(` ${path}`)) ?? [];
  if (name === undefined) throw new Error(`No script of package.json runs ${path}.`);
  const out = options.indexOf("--out");
  const told = out < 0 ? options : options.toSpliced(out, 2);
  return ["npm run", name, ...(told.length > 0 ? ["--", ...told] : [])].join(" ");
}

function takeFlag(argv: string[]): boolean {
  const at = argv.indexOf(FLAG);
  if (at >= 0) argv.splice(at, 1);
  return at >= 0;
}

function describeRun(): string {
  const [day] = new Date().toISOString().split("T");
  const changed = git("status", "--porcelain", "--", ".", ":!*.md") !== "";
  const commit = `commit ${git("rev-parse", "--short=8", "HEAD")}${changed ? " with changes" : ""}`;
  const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? "an unknown processor"}`;
  const load = `load ${(loadavg()[0] ?? 0).toFixed(1)} at the end`;
  return `${[day, commit, machine, `Node ${process.version}`, load].join(", ")}.`;
}

function git(...command: string[]): string {
  const options = { cwd: PROJECT, encoding: "utf8", timeout: GIT_MS } as const;
  return execFileSync("git", command, options).trim();
}
