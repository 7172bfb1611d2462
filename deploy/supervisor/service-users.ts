import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { StepError } from "../setup/step-error.mjs";
import type { UnprivilegedUser } from "./postgres/unprivileged-user.ts";

/** As whom the parts run when we are root. Each is another, so that none can look into another. */
export interface ServiceUsers {
  /** The service itself, the set-up and the demo: it owns audio, keys and mail. */
  readonly service: UnprivilegedUser;
  /** nats-server, which reads its configuration. */
  readonly nats: UnprivilegedUser;
  /** Workers, which own and read nothing: they decode what strangers send. */
  readonly worker: UnprivilegedUser;
}

/**
 * Numbers that no system gives away: below those of systemd's dynamic users, beyond those of people,
 * and small enough for a container with 65,536 of them. Nobody has to be added to the system for
 * them, and no other daemon runs as one of them, as it may as `nobody`.
 */
const FIRST = 60_578;
const CREWS = 202;
const CREW = 3;

/**
 * Undefined when we are an ordinary user: then all parts run as that one. The owner of audio that is
 * there stays its owner; otherwise the numbers follow from the data folder's id.
 */
export function chooseServiceUsers(dataId: string, audio: string): ServiceUsers | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = ownerOf(audio);
  const first = firstOfCrew(dataId, owner);
  const service = owner ?? { uid: first, gid: first };
  const users = { service, nats: numbered(first + 1), worker: numbered(first + 2) };
  for (const user of Object.values(users)) checkSwitch(user);
  return users;
}

function numbered(number: number): UnprivilegedUser {
  return { uid: number, gid: number };
}

/** Of an existing folder, unless it is root's. */
function ownerOf(path: string): UnprivilegedUser | undefined {
  try {
    const { uid, gid } = statSync(path);
    return uid === 0 ? undefined : { uid, gid };
  } catch {
    return undefined;
  }
}

function firstOfCrew(dataId: string, owner: UnprivilegedUser | undefined): number {
  const place = owner === undefined ? -1 : (owner.uid - FIRST) / CREW;
  if (Number.isInteger(place) && place >= 0 && place < CREWS) return FIRST + place * CREW;
  const taken = takenNumbers();
  const start = createHash("sha256").update(dataId).digest().readUInt32BE(0);
  for (let n = 0; n < CREWS; n += 1) {
    const first = FIRST + ((start + n) % CREWS) * CREW;
    if (![first, first + 1, first + 2].some((number) => taken.has(number))) return first;
  }
  throw new StepError(
    `every number from ${FIRST} to ${FIRST + CREWS * CREW - 1} belongs to a user or a group`,
    "run as an ordinary user",
  );
}

function takenNumbers(): Set<number> {
  const numbers = ["/etc/passwd", "/etc/group"].flatMap((file) => {
    const rows = readFileSync(file, "utf8").split("\n");
    return rows.map((row) => Number(row.split(":")[2]));
  });
  return new Set(numbers);
}

/** In a container root may be without the right to become another user. */
function checkSwitch({ uid, gid }: UnprivilegedUser): void {
  const { error, status } = spawnSync("/bin/true", { uid, gid, cwd: "/", timeout: 5_000 });
  if (error === undefined && status === 0) return;
  throw new StepError(
    `nothing of the service runs as root, and this root cannot start a process as user ${uid} (${error?.message ?? `exit code ${status}`})`,
    "run as an ordinary user (in a container: --user 10001:10001), or let root keep CAP_SETUID and CAP_SETGID",
  );
}
