import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { CommandFailure } from "../client/command-context.ts";

/**
 * Runs `work` while no other process changes the model: a file beside its folder names the process
 * that does. One left by a process that is gone is replaced. Throws CommandFailure when another
 * process has it.
 */
export async function withModelLock<T>(
  folder: string,
  id: string,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `.${id}.lock`);
  const own = JSON.stringify({ host: hostname(), pid: process.pid, nonce: randomUUID() });
  if (!(await create(path, own))) {
    const owner = await readFile(path, "utf8").catch(() => "");
    if (!isGone(owner) || !(await discard(path, owner)) || !(await create(path, own))) {
      throw new CommandFailure(
        `Another process is changing ${id}: wait until it has ended, then give the same command again (if there is none, delete ${path})`,
      );
    }
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Puts the file there with its content at once, so that nobody reads half of it. */
async function create(path: string, content: string): Promise<boolean> {
  const beside = `${path}.${randomUUID()}`;
  try {
    await writeFile(beside, content);
    await link(beside, path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(beside, { force: true });
  }
}

function isGone(owner: string): boolean {
  const found = /^\{"host":"([^"]*)","pid":(\d+),/.exec(owner);
  if (found?.[1] !== hostname()) return false;
  try {
    process.kill(Number(found[2]), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

/** Takes the lock of a process that is gone away; gives it back when it was meanwhile another's. */
async function discard(path: string, owner: string): Promise<boolean> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    if ((await readFile(aside, "utf8")) === owner) return true;
    await link(aside, path);
    return false;
  } catch {
    return false;
  } finally {
    await rm(aside, { force: true });
  }
}
