import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { command, tail } from "./command.mjs";
import { StepError } from "./step-error.mjs";

/** Whether this system can hand out Debian packages. */
export async function hasApt() {
  const [apt, dpkg] = await Promise.all([
    command("apt-get", ["--version"], { timeoutMs: 10_000 }),
    command("dpkg", ["--version"], { timeoutMs: 10_000 }),
  ]);
  return apt.code === 0 && dpkg.code === 0;
}

/**
 * Unpacks packages into the folder `root` without root rights and without changing the system:
 * apt's state lies in a scratch folder, with the system's own source list and keys. The folder
 * appears whole or not at all. With `alsoNeeded` come the packages that these depend on, as far as
 * it says yes to their names.
 */
export async function unpackPackages(packages, root, { step, seal, alsoNeeded }) {
  mkdirSync(dirname(root), { recursive: true });
  sweepScratch(root);
  const scratch = mkdtempSync(`${root}.tmp-`);
  try {
    const downloads = join(scratch, "packages");
    const made = join(scratch, "root");
    for (const name of [...FETCHED, "root"]) mkdirSync(join(scratch, name), { recursive: true });
    writeFileSync(join(scratch, "state/status"), "");
    const fetcher = await fetcherOf(process.getuid?.());
    if (fetcher !== undefined) lend(scratch, fetcher);
    const options = privateState(scratch, fetcher);
    step.note("reading the package lists");
    await apt([...options, "update"], downloads);
    const names = alsoNeeded ? await withNeeded(options, packages, alsoNeeded) : packages;
    step.note(`fetching ${names.length} packages`);
    await apt([...options, "download", ...names], downloads);
    step.note("unpacking");
    for (const file of readdirSync(downloads).filter((name) => name.endsWith(".deb"))) {
      await unpack(join(downloads, file), made);
    }
    seal(made);
    rmSync(root, { recursive: true, force: true });
    renameSync(made, root);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** These packages and what they depend on, as apt would install them where nothing is. */
async function withNeeded(options, packages, wanted) {
  const args = [...options, "--simulate", "--no-install-recommends", "install", ...packages];
  const { code, output } = await command("apt-get", args, { timeoutMs: 60_000 });
  const names = [...output.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  if (code === 0 && names.length > 0) return names.filter(wanted);
  throw new StepError(
    `apt-get cannot tell what ${packages.join(", ")} needs:\n${tail(output)}`,
    "check the system's package sources (apt-get update), then run the same command again",
  );
}

/** Leavings of runs that were killed; the caller's lock keeps others out. */
function sweepScratch(root) {
  const folder = dirname(root);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(root)}.tmp-`)) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Folders that apt's fetchers write to. */
const FETCHED = ["state/lists/partial", "cache/archives/partial", "packages"];

/**
 * The user as whom apt fetches what the network sends, where it can: only root may become another one.
 * `idOf` gives a user's id by its name; undefined where there is no such user.
 */
export async function fetcherOf(uid, idOf = systemIdOf) {
  return uid === 0 ? await idOf("_apt") : undefined;
}

async function systemIdOf(name) {
  const { code, output } = await command("id", ["-u", name], { timeoutMs: 10_000 });
  return code === 0 && /^\d+$/.test(output.trim()) ? Number(output) : undefined;
}

/** Where a folder above it lets nobody in, apt says so, and fetches as root. */
function lend(scratch, fetcher) {
  chmodSync(scratch, 0o711);
  for (const name of FETCHED) chownSync(join(scratch, name), fetcher, process.getgid());
}

/** apt's options; without a `fetcher` it fetches as who runs it. */
export function privateState(folder, fetcher) {
  const options = {
    "Dir::State": join(folder, "state"),
    "Dir::State::status": join(folder, "state/status"),
    "Dir::Cache": join(folder, "cache"),
    "Debug::NoLocking": "1",
    "Acquire::Languages": "none",
    "Acquire::Retries": "3",
    "Acquire::http::Timeout": "30",
    ...(fetcher === undefined && { "APT::Sandbox::User": "root" }),
  };
  return ["-q", ...Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
}

async function apt(args, cwd) {
  const result = await command("apt-get", args, { cwd, timeoutMs: 300_000 });
  if (result.code === 0) return;
  throw new StepError(
    `apt-get ${args.at(-1) === "update" ? "update" : "download"} failed:\n${tail(result.output)}`,
    "check that the system's package sources can be reached (apt-get update), then run the same command again",
  );
}

async function unpack(file, into) {
  const result = await command("dpkg", ["-x", file, into], { timeoutMs: 60_000 });
  if (result.code === 0) return;
  throw new StepError(
    `unpacking ${file} failed:\n${tail(result.output)}`,
    "check that there is room on the disk, then run the same command again",
  );
}
