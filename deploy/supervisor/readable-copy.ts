import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StepError } from "../setup/step-error.mjs";
import type { UnprivilegedUser } from "./postgres/unprivileged-user.ts";

/** Makes a folder that everybody may pass through, whatever our mask is. */
export function makePassable(folder: string): void {
  const made = mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (made !== undefined) chmodSync(folder, 0o755);
}

/** Whether that user may read all of these files. */
export function canRead(user: UnprivilegedUser, files: readonly string[]): boolean {
  const script = 'for file do test -r "$file" || exit 1; done';
  const test = spawnSync("/bin/sh", ["-c", script, "sh", ...files], {
    ...user,
    cwd: "/",
    timeout: 5_000,
  });
  return test.status === 0;
}

interface CopyOptions {
  /** Leaves out what is not needed, by absolute path. */
  readonly keep?: (path: string) => boolean;
  /**
   * Gives files a second name instead of a copy where that does, as it costs nothing. Not for files
   * that somebody watches: their number of names is part of them.
   */
  readonly link?: boolean;
}

/**
 * Makes `copy` a copy of the file or folder `source` that everybody may read and only root may
 * change. It is made beside and renamed.
 */
export function copyReadably(source: string, copy: string, options: CopyOptions = {}): void {
  const scratch = `${copy}.${process.pid}.new`;
  const old = `${copy}.${process.pid}.old`;
  try {
    makePassable(dirname(copy));
    rmSync(scratch, { recursive: true, force: true });
    copyEntry(source, scratch, options);
    if (existsSync(copy) && !options.link) renameSync(copy, old);
    renameSync(scratch, copy);
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true });
    // Somebody else was faster.
    if (options.link && existsSync(copy)) return;
    throw new StepError(
      `nothing of the service runs as root, and no copy of ${source} for another user could be made in ${dirname(copy)}: ${String(error)}`,
      "run as an ordinary user, or put the project where others can read it (below /srv or /opt, say)",
    );
  }
  rmSync(old, { recursive: true, force: true });
}

/**
 * The same, once for each `version` of the source, under a name that has it. None is ever replaced,
 * as others may run from it.
 */
export function copyOnce(
  source: string,
  name: string,
  version: string,
  keep?: (path: string) => boolean,
): string {
  const copy = `${name}-${digest(version)}`;
  if (existsSync(copy)) return copy;
  copyReadably(source, copy, { link: true, ...(keep && { keep }) });
  return copy;
}

/** Sixteen characters that stand for a text in a name. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function copyEntry(from: string, to: string, options: CopyOptions): void {
  const entry = lstatSync(from);
  if (entry.isSymbolicLink()) return symlinkSync(readlinkSync(from), to);
  if (entry.isFile()) return copyFile(from, to, entry, options);
  if (!entry.isDirectory()) return;
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    if (options.keep?.(path) ?? true) copyEntry(path, join(to, name), options);
  }
}

function copyFile(from: string, to: string, { mode, uid }: Stats, { link }: CopyOptions): void {
  const isSafe = (mode & 0o004) !== 0 && (mode & 0o022) === 0 && uid === 0;
  if (link && isSafe && tryLink(from, to)) return;
  copyFileSync(from, to);
  chmodSync(to, 0o644 | (mode & 0o111));
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}
