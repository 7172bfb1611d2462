import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StepError } from "../../setup/step-error.mjs";
import { isStillThere, type Place, readPlace } from "../folder-place.ts";
import { writeAtomically } from "../write-atomically.ts";
import { locateBinaries, type PostgresBinaries, SYSTEM_FOLDER } from "./binaries.ts";
import type { Cluster } from "./cluster.ts";
import { canReach, chooseUser } from "./unprivileged-user.ts";

/** A cluster's place; `moved` tells that it could not be in the data folder. */
export interface Placement extends Cluster {
  readonly moved: boolean;
}

/** The data folder that a cluster belongs to. */
export interface ClusterOwner {
  readonly id: string;
  readonly place: Place;
}

/**
 * In the data folder. As root PostgreSQL runs as another user, and where that one cannot pass
 * through to the data folder (below /root, say), it goes below /var/lib and stays there.
 */
export function placeCluster(project: string, owner: ClusterOwner): Placement {
  const { path } = owner.place;
  const inside = join(path, "postgres");
  const outside = outsideFolder(owner.id);
  const isOutside = hasCluster(outside) && !hasCluster(inside);
  const user = chooseUser(isOutside ? outside : inside);
  const binaries: PostgresBinaries = locateBinaries(project, user);
  if (!user) return { folder: inside, binaries, user, moved: false };
  if (!isOutside && canReach(user, path)) return { folder: inside, binaries, user, moved: false };
  if (hasCluster(inside) && !hasCluster(outside)) throw outOfReach(inside, user.uid);
  claimOutside(outside, owner.place);
  return { folder: outside, binaries, user, moved: true };
}

/** Deletes the cluster outside of this data folder, if there is one and it is its own. */
export function removeOutsideCluster({ id, place }: ClusterOwner): void {
  const outside = outsideFolder(id);
  if (ownerElsewhere(outside, place)) return;
  rmSync(outside, { recursive: true, force: true });
  rmSync(noteOf(outside), { force: true });
}

/** Where the cluster of this data folder is when it is not inside. */
function outsideFolder(dataId: string): string {
  const name = createHash("sha256").update(dataId).digest("hex").slice(0, 16);
  return join(SYSTEM_FOLDER, `postgres-${name}`);
}

/** A copy of the data folder has the same id, but the cluster stays the original's. */
function claimOutside(outside: string, place: Place): void {
  const owner = ownerElsewhere(outside, place);
  if (owner) throw copyWithoutDatabase(outside, owner, place);
  mkdirSync(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  writeAtomically(noteOf(outside), `${JSON.stringify(place)}\n`, 0o644);
}

/** Another data folder, still there, that the cluster belongs to. */
function ownerElsewhere(outside: string, place: Place): Place | undefined {
  const owner = readNote(outside);
  return owner && owner.folder !== place.folder && isStillThere(owner) ? owner : undefined;
}

function noteOf(outside: string): string {
  return `${outside}.json`;
}

function readNote(outside: string): Place | undefined {
  try {
    return readPlace(JSON.parse(readFileSync(noteOf(outside), "utf8")));
  } catch {
    return undefined;
  }
}

function hasCluster(folder: string): boolean {
  return existsSync(join(folder, "PG_VERSION"));
}

function copyWithoutDatabase(outside: string, owner: Place, { path }: Place): StepError {
  return new StepError(
    `${path} is a copy of ${owner.path}, whose database is not in it but in ${outside}`,
    `copy that too, with the original stopped, to where PostgreSQL's user can reach it: cp -a ${path} /srv/voice && cp -a ${outside} /srv/voice/postgres, then --data /srv/voice`,
  );
}

function outOfReach(inside: string, uid: number): StepError {
  return new StepError(
    `PostgreSQL cannot run as root, and user ${uid} cannot reach the database in ${inside}`,
    "move the data folder to where that user can pass through (below /srv or /var/lib, say)",
  );
}
