import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailure } from "../client/command-context.ts";
import { configFolder, writePrivately } from "../client/credentials.ts";
import type { DeviceOwner } from "./device-shelf.ts";

/** What became of a file. */
export interface LedgerEntry {
  readonly session_id: string;
  /** Where the service takes its bytes, while not all of them have come. */
  readonly address?: string;
  /** True when its sound is in the session. */
  readonly done: boolean;
}

/** The key of a content, by its SHA-256, for an owner. */
export function uploadKey(owner: DeviceOwner, sha256: string): string {
  const parts = [owner.base_url, owner.user_id, owner.workspace_id, sha256];
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}

/**
 * Which files this user has uploaded from this machine, by their content: a file is known again
 * under another name, and one that was sent in part is gone on with.
 */
export class UploadLedger {
  readonly #folder: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.#folder = join(configFolder(env), "uploads");
  }

  /** A damaged entry counts as none. */
  find(key: string): LedgerEntry | undefined {
    try {
      const entry: unknown = JSON.parse(readFileSync(join(this.#folder, `${key}.json`), "utf8"));
      return isEntry(entry) ? entry : undefined;
    } catch {
      return undefined;
    }
  }

  keep(key: string, entry: LedgerEntry): void {
    writePrivately(join(this.#folder, `${key}.json`), entry);
  }

  forget(key: string): void {
    rmSync(join(this.#folder, `${key}.json`), { force: true });
  }

  /**
   * Keeps other runs away from this content until the returned function is called. Throws while
   * another run sends it; the lock of a run that is gone is taken over.
   */
  lock(key: string): () => void {
    const file = join(this.#folder, `${key}.lock`);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    for (;;) {
      try {
        writeFileSync(file, String(process.pid), { flag: "wx", mode: 0o600 });
        return () => rmSync(file, { force: true });
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
        if (isRunning(file)) throw new CommandFailure("another `voice upload` is sending it now");
        rmSync(file, { force: true });
      }
    }
  }
}

function isRunning(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    if (!Number.isInteger(pid) || pid <= 0) return false;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but is there.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function isEntry(value: unknown): value is LedgerEntry {
  if (typeof value !== "object" || value === null) return false;
  const { session_id, address, done } = value as Record<string, unknown>;
  const isAddress = address === undefined || typeof address === "string";
  return typeof session_id === "string" && isAddress && typeof done === "boolean";
}
