import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { hasApt, unpackPackages } from "./apt.mjs";
import { isOn } from "./env-file.mjs";
import { cacheDir, systemName } from "./paths.mjs";
import { StepError } from "./step-error.mjs";

const NATS_PACKAGES = ["nats-server"];
const NATS_VERSION = /v(\d+)\.(\d+)\./;

/** Where this user's unpacked packages lie. */
export function nativeFolder() {
  return join(cacheDir(), systemName(), "root");
}

/**
 * What is here already: named by `VOICE_NATS_SERVER`, in the system, or unpacked in the cache.
 * @returns {{natsServer?: string}}
 */
export function findNative(env = process.env) {
  const servers = [env.VOICE_NATS_SERVER, ...natsCandidates(env)].filter(Boolean);
  return { natsServer: servers.find(isUsableNats) };
}

/** Fetches what is missing. Says what to install by hand where there is no apt. */
export async function installNative(step) {
  if (!(await hasApt())) throw withoutApt();
  const wanted = NATS_PACKAGES;
  const folder = nativeFolder();
  await unpackPackages(wanted, folder, {
    step,
    seal: (root) => {
      if (!isUsableNats(join(root, "usr/sbin/nats-server"))) throw incomplete("nats-server");
      writeFileSync(join(root, ".voice-packages"), `${wanted.join("\n")}\n`);
    },
  });
  return findNative();
}

function natsCandidates(env) {
  const unpacked = join(nativeFolder(), "usr/sbin/nats-server");
  if (isOn(env.VOICE_IGNORE_SYSTEM_PACKAGES)) return [unpacked];
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const names = [...folders, "/usr/sbin", "/usr/local/bin"].map((folder) =>
    join(folder, "nats-server"),
  );
  return [...new Set([...names.filter((name) => existsSync(name)), unpacked])];
}

/** Older ones are not tried. */
function isUsableNats(file) {
  if (!existsSync(file)) return false;
  const answer = spawnSync(file, ["--version"], { encoding: "utf8", timeout: 10_000 });
  const version = NATS_VERSION.exec(answer.stdout ?? "");
  if (!version) return false;
  const [major, minor] = [Number(version[1]), Number(version[2])];
  return major > 2 || (major === 2 && minor >= 9);
}

function withoutApt() {
  const system = readSystemName();
  return new StepError(
    `nats-server 2.9 or newer is missing, and ${system} has no apt to fetch from`,
    "install it with your system's package manager; VOICE_NATS_SERVER=/path/to/nats-server points at a copy elsewhere",
  );
}

function incomplete(what) {
  return new StepError(
    `${what} did not come with the packages or do not run here`,
    "this works on Debian 12 and its kin; elsewhere set VOICE_NATS_SERVER",
  );
}

function readSystemName() {
  try {
    return (
      /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ??
      "this system"
    );
  } catch {
    return "this system";
  }
}
