import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const PACKAGES = ["pocketsphinx", "pocketsphinx-en-us"];
/** The system's own C library has to stay the one in use. */
const NOT_UNPACKED = /^libc6_/;
const TIMEOUT_MS = 300_000;

/**
 * Unpacks Debian's `pocketsphinx` program, its model and all they need into a folder, without root rights and
 * without changing the system: apt works on a private, empty state with the system's own sources.
 * The folder appears whole or not at all. Throws where there is no apt or no network.
 */
export function fetchEngine(root: string): void {
  mkdirSync(dirname(root), { recursive: true });
  const scratch = mkdtempSync(`${root}.tmp-`);
  try {
    const archives = join(scratch, "cache/archives");
    for (const folder of ["state/lists/partial", "cache/archives/partial", "root"]) {
      mkdirSync(join(scratch, folder), { recursive: true });
    }
    writeFileSync(join(scratch, "state/status"), "");
    run("apt-get", [...privateState(scratch), "update"]);
    const install = ["install", "--download-only", "--no-install-recommends", "--yes", ...PACKAGES];
    run("apt-get", [...privateState(scratch), ...install]);
    for (const file of readdirSync(archives)) {
      if (!file.endsWith(".deb") || NOT_UNPACKED.test(file)) continue;
      run("dpkg", ["-x", join(archives, file), join(scratch, "root")]);
    }
    rmSync(root, { recursive: true, force: true });
    renameSync(join(scratch, "root"), root);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function privateState(folder: string): string[] {
  return Object.entries({
    "Dir::State": join(folder, "state"),
    "Dir::State::status": join(folder, "state/status"),
    "Dir::Cache": join(folder, "cache"),
    "Debug::NoLocking": "1",
    "Acquire::Languages": "none",
    "APT::Sandbox::User": "root",
  }).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { timeout: TIMEOUT_MS, stdio: ["ignore", "ignore", "pipe"] });
}
