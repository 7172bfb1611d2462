import { readFileSync } from "node:fs";
import { oneLine } from "./plan-recorder.ts";

const FOLDER = new URL("../../src/", import.meta.url);
/** Less says too little of which statement it is. */
const SHORTEST = 20;

/**
 * How the statements of a file, and parts of them, begin: up to the first value or fragment in
 * them. `name` is its path in src, without the ending.
 */
export function beginningsOf(name: string): string[] {
  const source = readFileSync(new URL(`${name}.ts`, FOLDER), "utf8");
  const statements = source.matchAll(
    /sql\.(?:unsafe|fragment|type\((?:[^()]|\([^()]*\))*\))`([^`]*)/g,
  );
  const beginnings = [...statements]
    .map(([, text = ""]) => oneLine(text.split("${")[0] ?? ""))
    .filter((text) => text.length >= SHORTEST);
  if (beginnings.length === 0) throw new Error(`No statement is known in ${name}.`);
  return beginnings;
}
