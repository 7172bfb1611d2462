// Lists the licence of every package that the service runs with; fails on one that is not permissive.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { PROJECT } from "./setup/paths.mjs";

/** Licences that ask for no more than to be named. */
const PERMISSIVE = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "PostgreSQL",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/**
 * Packages of other licences, each with the reason why it may stand here. FFmpeg is optional, used as a
 * program of its own in a process of its own, and given out unchanged with its source's address.
 */
const EXCEPTIONS = new Map([["@ffmpeg/core", "GPL-2.0-or-later"]]);

/** Told by their LICENSE file only. */
const TOLD_BY_FILE = new Map([["get-stack-trace", "BSD-3-Clause"]]);

/** Development packages that are built into the page, and so are given out all the same. */
const IN_THE_PAGE = new Set([
  "@preact/signals",
  "@preact/signals-core",
  "@tanstack/virtual-core",
  "lucide-preact",
  "preact",
  "regexparam",
  "uqr",
  "wouter-preact",
]);

/** Every alternative of an SPDX expression without brackets inside is looked at. */
function isPermissive(expression) {
  const plain = expression.replaceAll(/[()]/g, " ");
  return plain
    .split(/\s+OR\s+/)
    .some((side) => side.split(/\s+AND\s+/).every((id) => PERMISSIVE.has(id.trim())));
}

/** `{name, version, licence}` of each installed package that the service or its page is made of. */
export function listLicences() {
  const lock = JSON.parse(readFileSync(join(PROJECT, "package-lock.json"), "utf8"));
  const found = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    const isInPage = IN_THE_PAGE.has(path.replace(/^.*node_modules\//, ""));
    const isForDevelopment = entry.dev === true || entry.devOptional === true;
    if (path === "" || (isForDevelopment && !isInPage)) continue;
    const manifest = readManifest(path);
    // An optional package for another machine is locked, but not here.
    if (manifest === undefined) continue;
    const licence =
      manifest.license?.type ?? manifest.license ?? TOLD_BY_FILE.get(manifest.name) ?? "unknown";
    found.push({ name: manifest.name, version: manifest.version, licence });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readManifest(path) {
  try {
    return JSON.parse(readFileSync(join(PROJECT, path, "package.json"), "utf8"));
  } catch {
    return undefined;
  }
}

/** Packages whose licence asks for more. */
export function restrictive(licences) {
  return licences.filter(
    ({ name, licence }) => !isPermissive(String(licence)) && EXCEPTIONS.get(name) !== licence,
  );
}

if (process.argv[1] === import.meta.filename) {
  const licences = listLicences();
  for (const { name, version, licence } of licences) {
    process.stdout.write(`${name}@${version}\t${licence}\n`);
  }
  const doubtful = restrictive(licences);
  if (doubtful.length > 0) {
    process.stderr.write(`Not permissive: ${doubtful.map(({ name }) => name).join(", ")}\n`);
    process.exitCode = 1;
  }
}
