import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { locateBinaries, type PostgresBinaries, SYSTEM_FOLDER } from "./binaries.ts";
import type { Cluster } from "./cluster.ts";
import { canReach, chooseUser } from "./unprivileged-user.ts";

/** A cluster's place; `moved` tells that it could not be in the data folder. */
export interface Placement extends Cluster {
  readonly moved: boolean;
}

/**
 * In the data folder. As root PostgreSQL runs as another user, and where that one cannot pass
 * through to the data folder (below /root, say), it goes below /var/lib.
 */
export function placeCluster(project: string, data: string, dataId: string): Placement {
  const inside = join(data, "postgres");
  const outside = outsideFolder(dataId);
  const user = chooseUser(existsSync(outside) ? outside : inside);
  const binaries: PostgresBinaries = locateBinaries(project, user);
  if (!user || canReach(user, data)) return { folder: inside, binaries, user, moved: false };
  mkdirSync(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  return { folder: outside, binaries, user, moved: true };
}

/** Where the cluster of this data folder is when it is not inside. */
export function outsideFolder(dataId: string): string {
  const name = createHash("sha256").update(dataId).digest("hex").slice(0, 16);
  return join(SYSTEM_FOLDER, `postgres-${name}`);
}
