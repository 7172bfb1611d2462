import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { command, tail } from "./command.mjs";
import { PROJECT, pinnedNode } from "./paths.mjs";
import { StepError } from "./step-error.mjs";

const SOURCES = join(PROJECT, "src/web");
const SHARED = join(PROJECT, "src/wire");
const BUILT = join(SOURCES, "dist");
const STAMP = ".stamp";
const CONFIG = join(PROJECT, "deploy/setup/vite.config.mjs");

/** Whether src/web/dist was built from the sources and packages that are here now. */
export function pageIsCurrent() {
  try {
    return readFileSync(join(BUILT, STAMP), "utf8") === fingerprint();
  } catch {
    return false;
  }
}

/** Builds src/web/dist beside the old one and swaps, so that no reader finds it half done. */
export async function buildPage() {
  const scratch = join(PROJECT, "node_modules", `.voice-page-${process.pid}`);
  rmSync(scratch, { recursive: true, force: true });
  try {
    const before = fingerprint();
    const made = join(scratch, "dist");
    const vite = join(PROJECT, "node_modules/vite/bin/vite.js");
    const args = [vite, "build", "--config", CONFIG, "--outDir", made, "--logLevel", "warn"];
    const result = await command(pinnedNode(), args, { cwd: PROJECT, timeoutMs: 120_000 });
    if (result.code !== 0 || !existsSync(join(made, "index.html"))) {
      throw new StepError(
        `the page could not be built:\n${tail(result.output)}`,
        "correct the file of src/web that is named above",
      );
    }
    for (const name of namesBelow(made)) compress(join(made, name));
    writeFileSync(join(made, STAMP), before);
    if (existsSync(BUILT)) renameSync(BUILT, join(scratch, "old"));
    renameSync(made, BUILT);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Beside the file, as thoroughly as it goes, as it is done once. */
function compress(file) {
  const bytes = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(bytes));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}

function fingerprint() {
  const hash = createHash("sha256");
  const add = (name, file) => hash.update(`${name}\0`).update(readFileSync(file)).update("\0");
  for (const name of namesBelow(SOURCES)) add(name, join(SOURCES, name));
  // Words and frames that the page shares with the service.
  for (const name of readdirSync(SHARED)
    .filter((each) => each.endsWith(".ts"))
    .sort()) {
    add(name, join(SHARED, name));
  }
  add("lock", join(PROJECT, "package-lock.json"));
  add("config", CONFIG);
  return `${hash.digest("hex")}\n`;
}

function namesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .filter((name) => !name.startsWith("dist/") && !name.endsWith(".md"))
    .sort();
}
