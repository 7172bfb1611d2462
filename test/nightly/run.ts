/**
 * `npm run nightly`: what `npm test` leaves out, part by part, with one table at the end. Ends with
 * 0 when every part that was asked for ended well and no mark was missed. `--help` shows the options.
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { textTable } from "../eval/text-table.ts";
import { PARTS, type Part } from "./parts.ts";
import { type PartResult, runPart } from "./run-part.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const HELP = `npm run nightly -- [parts] [options]
  parts         of: ${PARTS.map(({ name }) => name).join(" ")} (all unless given)
  --out DIR     where each part's output goes (default: out/nightly)
${PARTS.map(({ name, what }) => `  ${name.padEnd(12)}  ${what}`).join("\n")}`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string", default: join(PROJECT, "out/nightly") },
    help: { type: "boolean", default: false },
  },
});

const unknown = positionals.filter((name) => !PARTS.some((part) => part.name === name));
if (options.help) console.log(HELP);
else if (unknown.length > 0) {
  console.error(`no part is called ${unknown.join(", ")}\n${HELP}`);
  process.exitCode = 2;
} else {
  const chosen = PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  process.exitCode = await runAll(chosen);
}

async function runAll(parts: readonly Part[]): Promise<number> {
  mkdirSync(options.out, { recursive: true });
  const results: PartResult[] = [];
  for (const part of parts) {
    console.log(`\n== ${part.name}: ${part.what}`);
    const result = await runPart(part, { project: PROJECT, out: options.out });
    results.push(result);
    if (result.interrupted) break;
  }
  console.log(`\n${table(results)}`);
  const failed = results.filter(({ ok }) => !ok).length;
  console.log(`${results.length - failed} passed, ${failed} failed`);
  return failed > 0 || results.length < parts.length ? 1 : 0;
}

function table(results: readonly PartResult[]): string {
  const rows = results.map(({ name, ok, minutes, summary }) => [
    name,
    ok ? "passed" : "failed",
    minutes.toFixed(1),
    summary,
  ]);
  return textTable([["part", "", "minutes", "its last line"], ...rows]);
}
