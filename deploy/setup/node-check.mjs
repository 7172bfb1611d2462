// Old versions of Node have to understand this file and those that import it: they hold no syntax and
// no import that Node 12.20 lacks. The rest is imported only when the version is known to do.
import process from "node:process";

/** The first one with all that the set-up needs; the service itself runs on a Node that it fetches. */
export const OLDEST_NODE = "20.12.0";

/**
 * Runs `start` on a Node that is new enough; says in one sentence what to do on another one, and ends
 * with 1.
 * @param {() => Promise<unknown>} start imports the command
 */
export function onRightNode(start) {
  const problem = nodeProblem(process.versions.node);
  if (problem === "") {
    start().catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exitCode = 1;
    });
    return;
  }
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

/** What is wrong with a version, as a sentence for people; empty for one that will do. */
export function nodeProblem(version) {
  if (compare(numbersOf(version), numbersOf(OLDEST_NODE)) >= 0) return "";
  return `Node ${version} is too old: Node ${OLDEST_NODE} or newer is needed. With npm alone:  npx --yes --package node@22 -- npm run up  (or another command in place of "npm run up"); or install a newer one from https://nodejs.org`;
}

function numbersOf(version) {
  return version.split(".").map(Number);
}

function compare(one, other) {
  for (let at = 0; at < other.length; at += 1) {
    if (one[at] !== other[at]) return one[at] - other[at];
  }
  return 0;
}
