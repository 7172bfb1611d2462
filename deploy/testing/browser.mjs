import { accessSync, constants, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { hasApt, unpackPackages } from "../setup/apt.mjs";
import { cacheDir, multiarch, systemName } from "../setup/paths.mjs";
import { StepError } from "../setup/step-error.mjs";

const PACKAGE = "chromium-headless-shell";
const IN_PACKAGE = "usr/lib/chromium/chromium-headless-shell";
const IN_SYSTEM = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
];
/** What every system has, and what only a graphics card needs. */
const UNNEEDED =
  /^(libc6|libllvm\d+|libz3-4|libgl1-mesa-dri|x11-utils|xdg-utils|debconf|lsb-base|sysvinit-utils)$/;

/**
 * The browser of the tests and the variables that it needs: the one that `VOICE_CHROMIUM` names,
 * the system's, or the one unpacked in the cache.
 * @returns {{program: string, env: Record<string, string>} | undefined}
 */
export function findBrowser(env = process.env) {
  const own = env.VOICE_CHROMIUM ? [env.VOICE_CHROMIUM] : [];
  const inSystem = env.VOICE_IGNORE_SYSTEM_PACKAGES === "1" ? [] : IN_SYSTEM;
  const program = [...own, ...inSystem].find(isProgram);
  if (program !== undefined) return { program, env: {} };
  const root = browserFolder();
  const unpacked = join(root, IN_PACKAGE);
  return isProgram(unpacked) ? { program: unpacked, env: environmentOf(root) } : undefined;
}

/** Fetches a Chromium without a window, and the libraries that it needs. */
export async function installBrowser(step) {
  if (!(await hasApt())) {
    throw new StepError(
      "the tests need a Chromium, and this system has no apt to fetch it from",
      "install Chromium and set VOICE_CHROMIUM=/path/to/chromium",
    );
  }
  await unpackPackages([PACKAGE], browserFolder(), {
    step,
    alsoNeeded: (name) => !UNNEEDED.test(name),
    seal: (root) => {
      if (!isProgram(join(root, IN_PACKAGE))) {
        throw new StepError(
          `${PACKAGE} holds no ${IN_PACKAGE}`,
          "install Chromium and set VOICE_CHROMIUM=/path/to/chromium",
        );
      }
    },
  });
  return findBrowser();
}

function browserFolder() {
  return join(cacheDir(), systemName(), "browser");
}

function environmentOf(root) {
  const folders = ["usr/lib", "lib"].flatMap((folder) =>
    withPrivate(join(root, folder, multiarch())),
  );
  return { LD_LIBRARY_PATH: folders.join(":"), FONTCONFIG_SYSROOT: root };
}

/** With the folders of libraries that a library keeps for itself, at a path that it holds fixed. */
function withPrivate(folder) {
  const inside = listed(folder).filter((entry) => entry.isDirectory());
  const isLibrary = ({ name }) => /^lib.*\.so(\.|$)/.test(name);
  const own = inside.map(({ name }) => join(folder, name));
  return [folder, ...own.filter((each) => listed(each).some(isLibrary))];
}

function listed(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
