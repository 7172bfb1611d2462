import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import { Crew } from "./crew.ts";
import type { DataFolder } from "./data-folder.ts";
import { giveFolder } from "./folder-owners.ts";
import { SYSTEM_FOLDER } from "./postgres/binaries.ts";
import { canReach } from "./postgres/unprivileged-user.ts";
import { chooseServiceUsers } from "./service-users.ts";
import type { Programs } from "./services.ts";

/**
 * The data folder where other users can pass through to it. Below root, and below a folder that is
 * closed to others (/root, say), it moves to /var/lib, and a link stays where it was.
 */
export async function withinReach(data: DataFolder, screen: Screen): Promise<DataFolder> {
  const users = chooseServiceUsers(data.id, data.file("blobs"));
  if (users === undefined) return data;
  chmodSync(data.path, 0o711);
  if (canReach(users.service, data.path)) return data;
  const moved = await data.moveTo(newPlace(data.id));
  screen.line(
    `Nothing of the service runs as root, and no other user can reach ${data.path}: it is a link to ${moved.path} now`,
  );
  return moved;
}

/** One that was there before has the same id when it was restored from a copy: it is left alone. */
function newPlace(id: string): string {
  const first = join(SYSTEM_FOLDER, `data-${id}`);
  for (let n = 1; ; n += 1) {
    const place = n === 1 ? first : `${first}-${n}`;
    if (!existsSync(place)) return place;
  }
}

/** Chooses as whom the parts run, and gives them their folders. */
export function musterCrew(
  {
    project,
    programs,
    env,
    port,
  }: {
    project: string;
    programs: Programs;
    env: NodeJS.ProcessEnv;
    /** Of the first front. */
    port: number;
  },
  data: DataFolder,
): Crew {
  const audio = env.VOICE_BLOB_DIR || data.file("blobs");
  const users = chooseServiceUsers(data.id, audio);
  if (users !== undefined) {
    checkPort(port);
    const keys = env.VOICE_KEY_DIR || data.file("keys");
    const mail = env.VOICE_MAIL_DIR || data.file("mail");
    for (const folder of [audio, keys, mail, data.file("demo")]) {
      giveFolder(folder, users.service);
      if (!canReach(users.service, folder)) throw outOfReach(folder, users.service.uid);
    }
  }
  const { setup, main, worker, cli } = programs;
  return new Crew(project, [setup, main, worker, cli], users, data.place.folder);
}

/** Root may listen anywhere; the user that takes its place may not. */
function checkPort(port: number): void {
  const first = Number(readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8"));
  if (port === 0 || port >= first) return;
  throw new StepError(
    `nothing of the service runs as root, and others may not listen on port ${port}`,
    `choose a port from ${first} on, with a proxy before it (deploy/one-machine.md), or allow it: sysctl net.ipv4.ip_unprivileged_port_start=${port}`,
  );
}

function outOfReach(folder: string, uid: number): StepError {
  return new StepError(
    `the service runs as user ${uid}, who cannot reach ${folder}`,
    "put it where others can pass through (below /srv or /var/lib, say)",
  );
}
