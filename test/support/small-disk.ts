import { spawnSync } from "node:child_process";
import { chownSync, closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { UnprivilegedUser } from "../../deploy/supervisor/postgres/unprivileged-user.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

const BALLAST = "ballast";
const BLOCK = 4_096;

/** Why no disk can be mounted here; undefined when it can. */
export function whyNoDisk(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can mount a small disk";
  const folder = makeScratchFolder("try-disk");
  try {
    const tried = mount(folder, 1);
    if (tried === undefined) spawnSync("umount", [folder]);
    return tried;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined when it is mounted. */
function mount(folder: string, megabytes: number): string | undefined {
  const options = `size=${megabytes}m,mode=0711`;
  const done = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  return done.status === 0 ? undefined : `no disk can be mounted: ${String(done.stderr).trim()}`;
}

/** A disk of a few megabytes, in memory, that really is full when it is. */
export class SmallDisk {
  /** Where it is mounted. */
  readonly folder = makeScratchFolder("disk");

  constructor(megabytes: number, owner?: UnprivilegedUser) {
    const problem = mount(this.folder, megabytes);
    if (problem !== undefined) throw new Error(problem);
    if (owner !== undefined) chownSync(this.folder, owner.uid, owner.gid);
  }

  /** Bytes that are free. */
  get free(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }

  /** Fills it, but for so many bytes, with a file of nobody's. */
  fill(leave = 0): void {
    const file = openSync(join(this.folder, BALLAST), "a");
    try {
      const block = Buffer.alloc(BLOCK);
      while (this.free >= leave + BLOCK) writeSync(file, block);
    } finally {
      closeSync(file);
    }
  }

  /** Takes out what `fill` put in. */
  empty(): void {
    rmSync(join(this.folder, BALLAST), { force: true });
  }

  /** Read-only, as a file system becomes after a fault of its disk, or as it was. */
  remount(mode: "ro" | "rw"): void {
    const done = spawnSync("mount", ["-o", `remount,${mode}`, this.folder]);
    if (done.status !== 0) throw new Error(String(done.stderr));
  }

  close(): void {
    spawnSync("umount", ["--lazy", this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
