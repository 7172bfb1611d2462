import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { playGoldenSession } from "./golden-session.ts";

// `node test/support/write-golden.ts VERSION` writes the golden files of events in a new form, once:
// what a release wrote never changes.
const version = Number(process.argv[2]);
if (!Number.isInteger(version)) throw new Error("Which version?");
const folder = resolve(import.meta.dirname, "../unit/session/golden");
const { bench, events } = playGoldenSession();
mkdirSync(folder, { recursive: true });
for (const [name, content] of [
  [`events-v${version}.json`, events],
  [`state-v${version}.json`, bench.state],
] as const) {
  const path = resolve(folder, name);
  if (existsSync(path)) console.log(`${name} is there already`);
  else writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`);
}
