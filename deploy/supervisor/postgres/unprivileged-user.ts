import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";

/** Whom PostgreSQL runs as when we are root, which it refuses to be. */
export interface UnprivilegedUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Undefined when we are an ordinary user already. The owner of an existing data folder stays its
 * owner; a new one goes to the system's `postgres` user, else to `nobody`.
 */
export function chooseUser(existingFolder: string): UnprivilegedUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = ownerOf(existingFolder);
  if (owner && owner.uid !== 0) return owner;
  return findUser("postgres") ?? findUser("nobody") ?? { uid: 65_534, gid: 65_534 };
}

/** Whether that user can pass every folder on the way to this folder or program, and enter it. */
export function canReach(user: UnprivilegedUser, path: string): boolean {
  const test = spawnSync("/bin/sh", ["-c", 'test -x "$1"', "sh", path], {
    ...user,
    cwd: "/",
    timeout: 5_000,
  });
  return test.status === 0;
}

function ownerOf(path: string): UnprivilegedUser | undefined {
  try {
    const { uid, gid } = statSync(path);
    return { uid, gid };
  } catch {
    return undefined;
  }
}

function findUser(name: string): UnprivilegedUser | undefined {
  const row = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((line) => line.startsWith(`${name}:`));
  const [, , uid, gid] = row?.split(":") ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}
