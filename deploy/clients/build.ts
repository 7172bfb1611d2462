/**
 * `npm run packages [-- typescript|python|livekit] [--out DIR]`: builds the clients into files that can
 * be published, `*.tgz` and `*.whl` in `out/packages` by default. The wheels are left out
 * where there is no Python with pip.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const PROJECT = resolve(import.meta.dirname, "../..");
const HERE = join(PROJECT, "deploy/clients");
const BUILDERS = {
  typescript: buildTypeScript,
  python: () => buildWheel("python", "src"),
  livekit: () => buildWheel("livekit", "livekit"),
};

const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string", default: join(PROJECT, "out/packages") } },
});
const OUT = resolve(values.out);
const unknown = asked.filter((name) => !(name in BUILDERS));
if (unknown.length > 0) {
  console.error(`no package is called ${unknown.join(", ")}: ${Object.keys(BUILDERS).join(", ")}`);
  process.exitCode = 2;
} else {
  for (const [name, build] of Object.entries(BUILDERS)) {
    if (asked.length === 0 || asked.includes(name)) console.log(`${name}: ${build()}`);
  }
}

/** The folder of a package, emptied, with what all have. */
function begin(name: string): string {
  const folder = join(OUT, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(PROJECT, "LICENSE"), join(folder, "LICENSE"));
  copyFileSync(join(HERE, name, "README.md"), join(folder, "README.md"));
  return folder;
}

function buildTypeScript(): string {
  const folder = begin("typescript");
  copyFileSync(join(HERE, "typescript/package.json"), join(folder, "package.json"));
  const compiler = join(PROJECT, "node_modules/typescript-7/bin/tsc");
  const settings = ["--project", join(HERE, "typescript/tsconfig.json")];
  const dist = join(folder, "dist");
  run(process.execPath, [compiler, ...settings, "--pretty", "false", "--outDir", dist], PROJECT);
  for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (file.endsWith(".d.ts")) nameModules(join(dist, file));
  }
  const made = run("npm", ["pack", "--silent", "--pack-destination", OUT], folder);
  return join(OUT, made.trim().split("\n").at(-1) ?? "");
}

/** The compiler names the modules of declarations as in the sources; not all tools find them so. */
function nameModules(file: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/(from|import\() ?"(\.[^"]+)\.ts"/g, '$1 "$2.js"'));
}

/** @param sources folder of the modules in that of the package */
function buildWheel(name: string, sources: string): string {
  const python = ["python3", "python"].find(
    (program) => spawnSync(program, ["-m", "pip", "--version"]).status === 0,
  );
  if (python === undefined) return "left out: there is no Python with pip here";
  const folder = begin(name);
  copyFileSync(join(HERE, name, "pyproject.toml"), join(folder, "pyproject.toml"));
  const isSource = (path: string) => !/__pycache__/.test(path);
  const from = join(HERE, name, sources);
  cpSync(from, join(folder, sources), { recursive: true, filter: isSource });
  const wheels = join(folder, "wheels");
  run(python, ["-m", "pip", "wheel", "--no-deps", "--quiet", "-w", wheels, "."], folder);
  const [wheel = ""] = readdirSync(wheels);
  copyFileSync(join(wheels, wheel), join(OUT, wheel));
  return join(OUT, wheel);
}

/** What a program printed; throws with what it said when it fails. */
function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}
