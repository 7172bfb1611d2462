import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { StepError } from "../setup/step-error.mjs";
import type { UnprivilegedUser } from "./postgres/unprivileged-user.ts";

/**
 * Makes the folder of a user, or hands over one that root made, with all that root owns in it. Links
 * in it are handed over themselves and never followed; what belongs to somebody else stays his.
 */
export function giveFolder(path: string, { uid, gid }: UnprivilegedUser): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const folder = trusted(path, uid);
  const { uid: owner } = statSync(folder);
  if (owner === uid) return;
  if (owner !== 0) {
    throw new StepError(
      `${path} belongs to user ${owner}, and the service runs as user ${uid}`,
      // The owner of the audio folder is who the service runs as, on every machine that shares it.
      `if other machines use it too, set VOICE_BLOB_DIR to the audio folder that they share, whose owner the service runs as, and change no owner; if this one alone does, hand it over: chown -R ${uid}:${gid} ${path}`,
    );
  }
  // -h and -P: coreutils go by open folders, so that nobody can put a link in the way meanwhile.
  const args = ["-R", "-h", "-P", "--from=0", `${uid}:${gid}`, folder];
  const { status, stderr, error } = spawnSync("chown", args, { encoding: "utf8" });
  if (status === 0) return;
  throw new StepError(
    `${path} cannot be handed over to user ${uid}: ${error?.message ?? stderr.trim()}`,
    "choose a folder whose owner root may change, or run as the ordinary user who owns it",
  );
}

/** Where the folder is. Somebody else's link could lead root to hand over what is not ours. */
function trusted(path: string, uid: number): string {
  const link = lstatSync(path);
  const { uid: above } = statSync(dirname(path));
  if (link.isSymbolicLink() ? link.uid === 0 && above === 0 : above === 0 || above === uid) {
    return realpathSync(path);
  }
  throw new StepError(
    `${path} is in the hands of user ${above}, so root hands nothing over there`,
    `run as that user, or give the folder above to root: chown root ${dirname(path)}`,
  );
}
