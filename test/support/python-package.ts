import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { makeScratchFolder } from "./scratch-folder.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const DRIVER = resolve(import.meta.dirname, "python-client.py");
const INSTALLED_MS = 600_000;

/** An order to the program around the package, see `python-client.py`. */
export interface PythonOrders {
  readonly kind: "sync" | "async";
  readonly client: Readonly<Record<string, unknown>>;
  readonly back_off: Readonly<Record<string, number>>;
  readonly do: readonly Readonly<Record<string, unknown>>[];
}

/** The program's environment: no proxy of the machine's stands between two ends of loopback. */
const ENVIRONMENT = { PATH: process.env.PATH ?? "", LANG: "C.UTF-8" };

/** A package of this project for Python, and how the file of its wheel begins. */
const WHEELS = { python: "voice_session_client-", livekit: "livekit_plugins_voice_session-" };
type WheelName = keyof typeof WHEELS;

/** The Python package, and what else is built on it, installed from their files into an empty environment. */
export class PythonPackage {
  readonly folder: string;
  readonly version: string;

  private constructor(folder: string, version: string) {
    this.folder = folder;
    this.version = version;
  }

  /**
   * Installs the wheels and what they need. A text says why that cannot be tried here: no Python of
   * `python`'s name, or no package index.
   */
  static install(
    python = "python3",
    names: readonly WheelName[] = ["python"],
  ): PythonPackage | string {
    const told = spawnSync(python, ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"], {
      encoding: "utf8",
    });
    if (told.status !== 0) return `there is no ${python} here`;
    const folder = makeScratchFolder("python-package");
    const fault = PythonPackage.#fill(folder, python, names);
    if (fault === undefined) return new PythonPackage(folder, told.stdout.trim());
    rmSync(folder, { recursive: true, force: true });
    return fault;
  }

  static #fill(folder: string, python: string, names: readonly WheelName[]): string | undefined {
    const made = spawnSync(python, ["-m", "venv", folder], { encoding: "utf8" });
    if (made.status !== 0) return `${python} makes no environments (venv)`;
    const out = join(folder, "packages");
    const wheels = names.map((name) => wheelOf(builtPackages(name, out), WHEELS[name]));
    const built = wheels.filter((wheel) => wheel !== undefined);
    if (built.length < names.length) return "there is no Python with pip here";
    const installed = spawnSync(join(folder, "bin/pip"), ["install", "--quiet", ...built], {
      ...{ encoding: "utf8", timeout: INSTALLED_MS },
    });
    return installed.status === 0 ? undefined : `pip reaches no index: ${saidLast(installed)}`;
  }

  /** What became of each order. Throws when the program itself fails. */
  async run(orders: PythonOrders): Promise<Record<string, unknown>[]> {
    const child = spawn(join(this.folder, "bin/python"), ["-B", DRIVER], {
      cwd: this.folder,
      env: ENVIRONMENT,
      stdio: ["pipe", "pipe", "pipe"],
    });
    child.stdin.end(JSON.stringify(orders));
    const outputs = Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    const [said, failed, [code]] = await outputs;
    if (code !== 0) throw new Error(failed);
    return JSON.parse(said) as Record<string, unknown>[];
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Builds a package into a folder with the command of the project; the folder has its file then. */
export function builtPackages(name: WheelName | "typescript", out: string): string {
  const build = resolve(PROJECT, "deploy/clients/build.ts");
  const flags = ["--disable-warning=ExperimentalWarning", build, name, "--out", out];
  const made = spawnSync(process.execPath, flags, { encoding: "utf8", timeout: INSTALLED_MS });
  if (made.status !== 0) throw new Error(made.stderr || made.stdout);
  return out;
}

function wheelOf(folder: string, start: string): string | undefined {
  const name = readdirSync(folder).find((each) => each.startsWith(start) && each.endsWith(".whl"));
  return name === undefined ? undefined : join(folder, name);
}

function saidLast({ stderr }: SpawnSyncReturns<string>): string {
  return stderr.trim().split("\n").at(-1) ?? "";
}

/** Bytes in a file, for a program that reads them. */
export function fileWith(folder: string, bytes: Uint8Array, name = "sound"): string {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
}
