import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { hasApt, unpackPackages } from "../setup/apt.mjs";
import { withLock } from "../setup/lock.mjs";
import { cacheDir, multiarch, systemName } from "../setup/paths.mjs";
import { runStep } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";

/** nginx, and Python with `requests`, with what of theirs a minimal Debian 12 lacks. */
const PACKAGES = [
  "libexpat1",
  "libpython3.11-minimal",
  "libpython3.11-stdlib",
  "libssl3",
  "nginx",
  "python3-certifi",
  "python3-chardet",
  "python3-idna",
  "python3-requests",
  "python3-six",
  "python3-urllib3",
  "python3.11-minimal",
];
const IMPORT = ["-c", "import requests, ssl"];

/**
 * The proxy and the client of other people that the end-to-end tests meet, fetched once into the
 * cache beside what the service itself needs. `VOICE_TEST_NGINX` and `VOICE_TEST_PYTHON` name others.
 * @returns {Promise<NodeJS.ProcessEnv>} settings for the tests
 */
export async function prepareForeignPrograms(screen) {
  const waiting = (pid) =>
    screen.line(`another set-up (pid ${pid}) is at work here: waiting for it`);
  const found = await withLock(cacheDir(), () => findOrFetch(screen), waiting);
  return { VOICE_TEST_NGINX: found.nginx, VOICE_TEST_PYTHON: found.python };
}

async function findOrFetch(screen) {
  const found = find();
  if (found.nginx && found.python) return found;
  if (!(await hasApt())) throw missing("there is no apt here to fetch them from");
  const title = "nginx and Python with requests, for the tests (Debian packages, in your cache)";
  await runStep(screen, title, (step) =>
    unpackPackages(PACKAGES, folder(), { step, seal: sealPrograms }),
  );
  return find();
}

function folder() {
  return join(cacheDir(), systemName(), "test-root");
}

/** Named ones, else those unpacked, else the system's, as far as those count. */
function find(env = process.env) {
  const system = env.VOICE_IGNORE_SYSTEM_PACKAGES === "1" ? [] : ["/usr/sbin", "/usr/bin"];
  const places = (name, own) => [
    ...(own ? [own] : []),
    ...[join(folder(), "bin"), ...system].map((place) => join(place, name)),
  ];
  return {
    nginx: places("nginx", env.VOICE_TEST_NGINX).find((program) => runs(program, ["-v"])),
    python: places("python3", env.VOICE_TEST_PYTHON).find((program) => runs(program, IMPORT)),
  };
}

function runs(program, args) {
  return existsSync(program) && spawnSync(program, args, { timeout: 20_000 }).status === 0;
}

/** Unpacked programs find their libraries only when they are told where those are. */
function sealPrograms(root) {
  const libraries = [join("usr/lib", multiarch()), join("lib", multiarch())]
    .map((path) => `$root/${path}`)
    .join(":");
  const head = `#!/bin/sh\nroot=$(cd "$(dirname "$0")/.." && pwd)\nexport LD_LIBRARY_PATH="${libraries}"\n`;
  const python = `export PYTHONHOME="$root/usr" PYTHONPATH="$root/usr/lib/python3/dist-packages"\nexport PYTHONDONTWRITEBYTECODE=1\nexec "$root/usr/bin/python3.11" -s "$@"\n`;
  mkdirSync(join(root, "bin"), { recursive: true });
  writeProgram(join(root, "bin/nginx"), `${head}exec "$root/usr/sbin/nginx" "$@"\n`);
  writeProgram(join(root, "bin/python3"), head + python);
  if (!runs(join(root, "bin/nginx"), ["-v"])) throw missing("the unpacked nginx does not run here");
  if (!runs(join(root, "bin/python3"), IMPORT)) {
    throw missing("the unpacked Python does not run here");
  }
}

function writeProgram(file, text) {
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

function missing(why) {
  return new StepError(
    `nginx and Python with requests, which the end-to-end tests use, are missing: ${why}`,
    "this works on Debian 12 and its kin; elsewhere install nginx and python3-requests, or name them with VOICE_TEST_NGINX and VOICE_TEST_PYTHON",
  );
}
