import { chownSync, renameSync, writeFileSync } from "node:fs";

/** A reader sees the old content or the new, never half of it. It belongs to `owner`, if one is told. */
export function writeAtomically(
  file: string,
  content: string,
  mode = 0o600,
  owner?: { readonly uid: number; readonly gid: number },
): void {
  const scratch = `${file}.${process.pid}.tmp`;
  writeFileSync(scratch, content, { mode });
  if (owner !== undefined) chownSync(scratch, owner.uid, owner.gid);
  renameSync(scratch, file);
}
