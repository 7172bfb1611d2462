import { existsSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StepError } from "../../setup/step-error.mjs";
import { folderIdentity } from "../folder-place.ts";
import { identifyProcess } from "../process-identity.ts";
import type { Cluster } from "./cluster.ts";

/** Throws a StepError, saying what to do, when these binaries and this user cannot serve it. */
export function checkExistingCluster(cluster: Cluster): void {
  const version = join(cluster.folder, "PG_VERSION");
  if (!existsSync(version)) return;
  checkOwner(cluster);
  checkMajor(cluster, readFileSync(version, "utf8").trim());
  checkLockFile(cluster);
}

function checkOwner({ folder, user }: Cluster): void {
  const { uid } = statSync(folder);
  const wanted = user?.uid ?? process.getuid?.();
  if (uid === wanted) return;
  throw new StepError(
    `${folder} belongs to user ${uid}, and PostgreSQL runs as user ${wanted}`,
    `a copy has to keep its owners (cp -a, tar as root). To mend it: chown -R ${wanted} ${folder}`,
  );
}

function checkMajor({ folder, binaries }: Cluster, found: string): void {
  if (found === binaries.major) return;
  throw new StepError(
    `${folder} was made by PostgreSQL ${found}, and this release brings ${binaries.major}, which cannot read it`,
    `go on with the release that made it; or take the data along: run a PostgreSQL ${found} of your own on a copy of that folder, move it on with its pg_upgrade or pg_dump, and name the new server with DATABASE_URL and DATABASE_OWNER_URL`,
  );
}

/**
 * PostgreSQL takes any living process of its user with the number in postmaster.pid for its
 * predecessor. In a folder that was copied it may be the original's server; after a crash it may
 * be anybody by now, and then the number of this process, its parent, makes it look further.
 */
function checkLockFile({ folder }: Cluster): void {
  const file = join(folder, "postmaster.pid");
  if (!existsSync(file)) return;
  const [pid = "", original = "", ...rest] = readFileSync(file, "utf8").split("\n");
  if (!identifyProcess(Number(pid))) return;
  const serves = workingFolder(Number(pid));
  if (serves === undefined || serves === folderIdentity(folder)) return;
  if (serves === folderIdentity(original)) throw copiedWhileRunning(original, file);
  writeFileSync(file, [String(process.pid), original, ...rest].join("\n"));
}

/** PostgreSQL works in its data folder. */
function workingFolder(pid: number): string | undefined {
  try {
    return folderIdentity(readlinkSync(`/proc/${pid}/cwd`));
  } catch {
    return undefined;
  }
}

function copiedWhileRunning(original: string, file: string): StepError {
  return new StepError(
    `this data folder was copied while PostgreSQL was running on ${original}: such a copy may be torn`,
    `copy it again with the original stopped. If it comes from a snapshot that was taken at one moment it is whole: rm ${file}`,
  );
}
