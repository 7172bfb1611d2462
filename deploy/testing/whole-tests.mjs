import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { PROJECT } from "../setup/paths.mjs";

/** It puts the service together from all its parts: whoever imports it imports everything. */
const WHOLE_SERVICE = join(PROJECT, "src/app.ts");
const IMPORTS = /(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+\.(?:ts|mjs))"/g;

/**
 * The test files that import the whole service, so that every change of it concerns them.
 * @param {readonly string[]} folders below `test`
 * @returns {string[]} paths from the project's folder
 */
export function findWholeTests(folders) {
  /** @type {Map<string, boolean>} */
  const known = new Map([[WHOLE_SERVICE, true]]);
  const files = folders.flatMap((folder) => testFiles(join(PROJECT, "test", folder)));
  return files.filter((file) => reaches(file, known)).map((file) => relative(PROJECT, file));
}

function reaches(file, known) {
  const answer = known.get(file);
  if (answer !== undefined) return answer;
  // Where imports go round, whoever began looks further.
  known.set(file, false);
  const found = importsOf(file).some((other) => reaches(other, known));
  known.set(file, found);
  return found;
}

function importsOf(file) {
  try {
    const paths = [...readFileSync(file, "utf8").matchAll(IMPORTS)].map(([, path]) => path);
    return paths.map((path) => resolve(dirname(file), path));
  } catch {
    return []; // generated, and not there yet
  }
}

function testFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
