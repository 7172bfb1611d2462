import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import process from "node:process";
import { hasApt, unpackPackages } from "./apt.mjs";
import { isOn } from "./env-file.mjs";
import { cacheDir, multiarch, systemName } from "./paths.mjs";
import { StepError } from "./step-error.mjs";

const SPEECH_PACKAGES = [
  "libblas3",
  "libgfortran5",
  "liblapack3",
  "libpocketsphinx3",
  "libquadmath0",
  "libsphinxbase3",
  "pocketsphinx-en-us",
];
const NATS_PACKAGES = ["nats-server"];
const NATS_VERSION = /v(\d+)\.(\d+)\./;

/** Where this user's unpacked packages lie. */
export function nativeFolder() {
  return join(cacheDir(), systemName(), "root");
}

/**
 * What is here already: in the folder that `VOICE_NATIVE_ROOT` names, in the system, or unpacked
 * in the cache. `speechRoot` is "/" when the system has the packages itself.
 * @returns {{speechRoot?: string, natsServer?: string}}
 */
export function findNative(env = process.env) {
  const roots = env.VOICE_NATIVE_ROOT ? [resolve(env.VOICE_NATIVE_ROOT)] : [];
  if (!isOn(env.VOICE_IGNORE_SYSTEM_PACKAGES)) roots.push("/");
  roots.push(nativeFolder());
  const servers = [env.VOICE_NATS_SERVER, ...natsCandidates(env)].filter(Boolean);
  return { speechRoot: roots.find(hasSpeech), natsServer: servers.find(isUsableNats) };
}

/** Fetches what `found` lacks. Says what to install by hand where there is no apt. */
export async function installNative(found, step) {
  if (!(await hasApt())) throw withoutApt(found);
  const wanted = [...SPEECH_PACKAGES, ...NATS_PACKAGES].sort();
  const folder = nativeFolder();
  await unpackPackages(wanted, folder, {
    step,
    seal: (root) => {
      if (!hasSpeech(root)) throw incomplete("the speech libraries");
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

function hasSpeech(root) {
  const libraries = join(root, "usr/lib", multiarch());
  const model = join(root, "usr/share/pocketsphinx/model/en-us");
  return [
    join(libraries, "libquadmath.so.0"),
    join(libraries, "libgfortran.so.5"),
    join(libraries, "blas/libblas.so.3"),
    join(libraries, "lapack/liblapack.so.3"),
    join(libraries, "libsphinxbase.so.3"),
    join(libraries, "libpocketsphinx.so.3"),
    join(model, "en-us/mdef"),
    join(model, "en-us.lm.bin"),
    join(model, "cmudict-en-us.dict"),
  ].every((file) => existsSync(file));
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

function withoutApt(found) {
  const missing = [];
  if (!found.speechRoot) missing.push("pocketsphinx with its en-us model (libpocketsphinx.so.3)");
  if (!found.natsServer) missing.push("nats-server 2.9 or newer");
  const system = readSystemName();
  return new StepError(
    `${missing.join(" and ")} missing, and ${system} has no apt to fetch from`,
    "install them with your system's package manager; VOICE_NATS_SERVER=/path/to/nats-server and VOICE_NATIVE_ROOT=/folder (with usr/lib and usr/share inside, laid out as Debian does) point at copies elsewhere",
  );
}

function incomplete(what) {
  return new StepError(
    `${what} did not come with the packages or do not run here`,
    "this works on Debian 12 and its kin; elsewhere set VOICE_NATIVE_ROOT and VOICE_NATS_SERVER",
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
