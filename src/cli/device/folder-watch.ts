import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { reasonOf } from "../../client/errors.ts";
import { CommandFailure } from "../client/command-context.ts";
import { isSoundName } from "./file-list.ts";

/**
 * The recordings in a folder, and those that come into it, until the signal is aborted: each once it
 * was the same in two polls, as one that is still being written is not whole. The folder is looked
 * into instead of waiting for the system's notices, which folders of other machines do not give.
 */
export async function* settledFiles(
  folder: string,
  everySeconds: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const given = new Map<string, string>();
  let before = new Map<string, string>();
  while (!signal.aborted) {
    const now = sizesIn(folder);
    for (const [name, state] of now) {
      if (before.get(name) !== state || given.get(name) === state) continue;
      given.set(name, state);
      yield join(folder, name);
    }
    before = now;
    await delay(everySeconds * 1_000, undefined, { signal }).catch(() => undefined);
  }
}

/** The folder's recordings with their size and time, by name; empty files are not begun yet. */
function sizesIn(folder: string): Map<string, string> {
  let names: string[];
  try {
    names = readdirSync(folder).filter(isSoundName).sort();
  } catch (error) {
    throw new CommandFailure(`cannot read ${folder}: ${reasonOf(error)}`, error);
  }
  return new Map(
    names.flatMap((name): [string, string][] => {
      const stats = statSync(join(folder, name), { throwIfNoEntry: false });
      if (stats === undefined || !stats.isFile() || stats.size === 0) return [];
      return [[name, `${stats.size} ${stats.mtimeMs}`]];
    }),
  );
}
