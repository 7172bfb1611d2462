import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailure } from "../client/command-context.ts";
import { configFolder, writePrivately } from "../client/credentials.ts";
import type { DeviceOwner } from "./device-shelf.ts";

/** What became of a file. */
export interface LedgerEntry {
  readonly session_id: string;
  readonly device_id: string;
  /** True when all of it was sent and the session was stopped. */
  readonly done: boolean;
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

  /** The key of a content for an owner. */
  static keyOf({ base_url, user_id, workspace_id }: DeviceOwner, bytes: Uint8Array): string {
    const content = createHash("sha256").update(bytes).digest("hex");
    const parts = [base_url, user_id, workspace_id, content];
    return createHash("sha256").update(parts.join("\n")).digest("hex");
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
  const { session_id, device_id, done } = value as Record<string, unknown>;
  return (
    typeof session_id === "string" && typeof device_id === "string" && typeof done === "boolean"
  );
}
