import process from "node:process";
import { loadEnvFile } from "./env-file.mjs";
import { withLock } from "./lock.mjs";
import { findNative, installNative } from "./native.mjs";
import { finishPackages, installPackages, packagesAreInstalled } from "./packages.mjs";
import { buildPage, pageIsCurrent } from "./page.mjs";
import { cacheDir, PROJECT } from "./paths.mjs";
import { runStep } from "./screen.mjs";
import { StepError } from "./step-error.mjs";
import { generateWire, wireIsCurrent } from "./wire.mjs";

/**
 * Everything that a fresh clone needs before anything of it can run. Steps that have nothing to
 * do cost a few milliseconds and print nothing.
 * @returns {Promise<NodeJS.ProcessEnv>} the environment for what runs next
 */
export async function prepare(screen) {
  loadEnvFile(screen);
  checkMachine();
  const waiting = (pid) =>
    screen.line(`another set-up (pid ${pid}) is at work here: waiting for it`);
  await withLock(PROJECT, () => prepareProject(screen), waiting);
  const native = await withLock(cacheDir(), () => prepareNative(screen), waiting);
  return {
    ...process.env,
    VOICE_NATS_SERVER: native.natsServer,
  };
}

async function prepareProject(screen) {
  if (!packagesAreInstalled()) {
    await runStep(screen, "npm packages (the first time takes a minute)", installPackages);
  }
  finishPackages();
  if (!wireIsCurrent()) await runStep(screen, "message types from proto/", generateWire);
  if (!pageIsCurrent()) await runStep(screen, "page", buildPage);
}

async function prepareNative(screen) {
  const found = findNative();
  if (found.natsServer) return found;
  const title = "nats-server (a Debian package, unpacked into your cache)";
  return runStep(screen, title, installNative);
}

function checkMachine() {
  if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) {
    throw new StepError(
      `${process.platform}-${process.arch} is not supported`,
      "use Linux on x64 or arm64, a container or a virtual machine",
    );
  }
  checkGlibc();
}

function checkGlibc() {
  const header = process.report?.getReport?.().header;
  if (header && !header.glibcVersionRuntime) {
    throw new StepError(
      "this Linux has no glibc (Alpine?), which the bundled Node and PostgreSQL need",
      "use Debian, Ubuntu or another system with glibc",
    );
  }
}
