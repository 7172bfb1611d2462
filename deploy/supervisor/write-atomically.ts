import { renameSync, writeFileSync } from "node:fs";

/** A reader sees the old content or the new, never half of it. */
export function writeAtomically(file: string, content: string, mode = 0o600): void {
  const scratch = `${file}.${process.pid}.tmp`;
  writeFileSync(scratch, content, { mode });
  renameSync(scratch, file);
}
