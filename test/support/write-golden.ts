import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { SNAPSHOT_VERSION } from "../../src/session/snapshot.ts";
import { playGoldenSession } from "./golden-session.ts";

// Writes the golden files of the running version, once: what a release wrote never changes.
const folder = resolve(import.meta.dirname, "../unit/session/golden");
const { bench, events } = playGoldenSession();
mkdirSync(folder, { recursive: true });
for (const [name, content] of [
  [`events-v${SNAPSHOT_VERSION}.json`, events],
  [`snapshot-v${SNAPSHOT_VERSION}.json`, bench.state],
] as const) {
  const path = resolve(folder, name);
  if (existsSync(path)) console.log(`${name} is there already`);
  else writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`);
}
