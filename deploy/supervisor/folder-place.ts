import { statSync } from "node:fs";

/** A folder as the kernel knows it: the same over a rename, another for every copy. */
export interface Place {
  readonly path: string;
  /** Device and inode. */
  readonly folder: string;
}

/** The place of a folder that exists. */
export function placeOf(path: string): Place {
  return { path, folder: folderIdentity(path) ?? "" };
}

/** Device and inode; undefined when there is nothing, or nothing that may be seen. */
export function folderIdentity(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** Whether the folder is still where it was noted. */
export function isStillThere({ path, folder }: Place): boolean {
  return folderIdentity(path) === folder;
}

export function readPlace(value: unknown): Place | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { path, folder } = value as { path?: unknown; folder?: unknown };
  return typeof path === "string" && typeof folder === "string" ? { path, folder } : undefined;
}
