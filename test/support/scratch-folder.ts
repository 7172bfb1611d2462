import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  identifyProcess,
  isRunning,
  type ProcessIdentity,
} from "../../deploy/supervisor/process-identity.ts";

const PREFIX = "voice-test-";
const OWNERS = "owners.json";
/** A file system without a disk, where there is one. */
const MEMORY = "/dev/shm";
/** What databases and their log may take; containers often have 64 MB there. */
const ROOM_BYTES = 4 * 1024 ** 3;

interface Owners {
  /** The test run. */
  readonly run: ProcessIdentity | undefined;
  /** A server that lives in the folder. */
  readonly server?: ProcessIdentity | undefined;
}

/**
 * A folder below the system's temporary one, or in memory, for a server of the tests. Folders of runs that were
 * killed are swept, and the servers that they left are ended: see `sweepScratchFolders`.
 */
export function makeScratchFolder(purpose: string, inMemory = false): string {
  const parent = inMemory && hasRoomInMemory() ? MEMORY : tmpdir();
  const folder = mkdtempSync(join(parent, `${PREFIX}${purpose}-`));
  // PostgreSQL, as another user below root, has to pass through
  chmodSync(folder, 0o711);
  writeOwners(folder, { run: identifyProcess(process.pid) });
  return folder;
}

function hasRoomInMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ROOM_BYTES;
}

/** Notes the server, so that a later run can end it if this one is killed. */
export function noteServer(folder: string, pid: number): void {
  writeOwners(folder, { run: identifyProcess(process.pid), server: identifyProcess(pid) });
}

export function sweepScratchFolders(): void {
  for (const parent of [tmpdir(), MEMORY].filter((folder) => existsSync(folder))) {
    for (const name of readdirSync(parent)) {
      if (name.startsWith(PREFIX)) sweep(join(parent, name));
    }
  }
}

function sweep(folder: string): void {
  const owners = readOwners(folder);
  if (!owners?.run || isRunning(owners.run)) return;
  try {
    if (owners.server && isRunning(owners.server)) process.kill(owners.server.pid, "SIGQUIT");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch {
    // another user's; its owner sweeps it
  }
}

function writeOwners(folder: string, owners: Owners): void {
  writeFileSync(join(folder, OWNERS), JSON.stringify(owners));
}

function readOwners(folder: string): Owners | undefined {
  try {
    const owners: Owners = JSON.parse(readFileSync(join(folder, OWNERS), "utf8"));
    return owners;
  } catch {
    return undefined;
  }
}
