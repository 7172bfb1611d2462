#!/usr/bin/env node
// For maintainers, after `npm install PACKAGE`: adds to package-lock.json the builds for other
// platforms that npm left out because the registry in use does not carry them, and the digests of
// such. Without them `npm ci` refuses the lockfile as out of step. They are never fetched on Linux.
// Where npm's own registry is written beside a package, that is left out. With --check it only tells
// what is missing or comes from elsewhere: `npm test` runs it so.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { PROJECT } from "./setup/paths.mjs";
import { lockfileFaults, settingsFaults } from "./testing/lockfile.mjs";

const PLATFORMS = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "sunos", "win32"];
const PLATFORMS_AND_KIN = [...PLATFORMS, "aix", "openharmony", "wasi", "wasm32"];
const PROCESSORS = [
  ["x86_64", "x64"],
  ["aarch64", "arm64"],
  ["armv7", "arm"],
  ["armv6l", "arm"],
  ["riscv64", "riscv64"],
  ["loong64", "loong64"],
  ["ppc64", "ppc64"],
  ["s390x", "s390x"],
  ["mips64el", "mips64el"],
  ["arm64", "arm64"],
  ["ia32", "ia32"],
  ["x64", "x64"],
  ["arm", "arm"],
];

const file = join(PROJECT, "package-lock.json");
const lock = JSON.parse(readFileSync(file, "utf8"));
const added = Object.values(lock.packages).flatMap((entry) =>
  Object.entries(entry.optionalDependencies ?? {}).flatMap(([name, version]) => {
    const path = `node_modules/${name}`;
    const platform = platformOf(name);
    if (lock.packages[path] || !platform || !/^\d/.test(version)) return [];
    lock.packages[path] = {
      version,
      ...platform,
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
    };
    return [`${name}@${version}`];
  }),
);
if (process.argv.includes("--check")) {
  const faults = [
    ...added.map((name) => `${name} is missing`),
    ...(added.length > 0 ? [] : lockfileFaults(lock)),
    ...settingsFaults(readFileSync(join(PROJECT, ".npmrc"), "utf8")),
  ];
  for (const fault of faults) process.stdout.write(`lockfile: ${fault}\n`);
  if (faults.length > 0) process.stdout.write("mend it with: node deploy/complete-lockfile.mjs\n");
  process.exitCode = faults.length > 0 ? 1 : 0;
} else {
  writeLockfile();
}

function writeLockfile() {
  const registry = npm("config", "get", "registry");
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === "" || entry.link === true) continue;
    if (entry.resolved?.startsWith(registry)) delete entry.resolved;
    if (entry.integrity !== undefined || entry.optional !== true) continue;
    const name = path.replace(/^.*node_modules\//, "");
    const integrity = npm("view", `${name}@${entry.version}`, "dist.integrity");
    lock.packages[path] = { version: entry.version, integrity, ...entry };
  }
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")),
  );
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  for (const name of added) process.stdout.write(`added ${name}\n`);
  process.stdout.write(`${added.length} entries added to package-lock.json\n`);
}

function npm(...args) {
  return execFileSync("npm", args, { cwd: PROJECT, encoding: "utf8" }).trim();
}

/** The platform that a package's name tells; undefined when it tells none or it is this one. */
function platformOf(name) {
  const parts = name.split("/").at(-1).split("-");
  const os = PLATFORMS_AND_KIN.find((known) => parts.includes(known));
  const cpu = PROCESSORS.find(([word]) => parts.includes(word))?.[1];
  if (!os || !cpu) return undefined;
  const libc = parts.includes("musl") ? { libc: ["musl"] } : {};
  const isThisOne = os === process.platform && cpu === process.arch && !libc.libc;
  return isThisOne ? undefined : { cpu: [cpu], os: [os], ...libc };
}
