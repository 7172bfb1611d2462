import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, readlink } from "node:fs/promises";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

/** Of a connection on which nothing is under way: seconds until the first probe, between two, and how many. */
const IDLE_SECONDS = 20;
const INTERVAL_SECONDS = 5;
const PROBES = 4;
/**
 * Longest time in which nothing of what was sent is acknowledged, milliseconds. With the first it makes
 * less than a minute: what is sent just before the first probe takes its place.
 */
const UNACKNOWLEDGED_MS = 30_000;
const CHILD_MS = 5_000;

/** Level, name and value of the socket options, as Linux numbers them. */
const OPTIONS = [
  [1, 9, 1], // SO_KEEPALIVE
  [6, 4, IDLE_SECONDS], // TCP_KEEPIDLE
  [6, 5, INTERVAL_SECONDS], // TCP_KEEPINTVL
  [6, 6, PROBES], // TCP_KEEPCNT
  [6, 18, UNACKNOWLEDGED_MS], // TCP_USER_TIMEOUT
] as const;

/** Part of every Debian; Node can set the first of the options alone. */
const PERL = "/usr/bin/perl";
const SCRIPT = `open(my $s, "+<&=", 3) or die $!;
for (${OPTIONS.map((option) => `[${option.join(",")}]`).join(",")}) {
  setsockopt($s, $_->[0], $_->[1], pack("i", $_->[2])) or die $!;
}`;

const LISTENS = "0A";

/**
 * Lets the kernel end connections whose other end is gone without a word, within a minute, so that
 * their requests are aborted as those of other callers who go. uWebSockets.js has no socket options: a
 * child that is given the listening socket sets them on it, and accepted connections inherit them.
 * Never rejects: where it cannot be done the log says so.
 */
export async function noticeVanishedCallers(port: number, log: Log): Promise<void> {
  try {
    const socket = await listeningSocket(port);
    if (socket === undefined) throw new Error("The listening socket was not found.");
    await setOptions(socket);
  } catch (error) {
    const message = "callers that vanish without a word are noticed late";
    log.warn({ error: errorMessage(error) }, message);
  }
}

/** The descriptor of this process that listens on the port. */
async function listeningSocket(port: number): Promise<number | undefined> {
  const inodes = new Set<string>();
  for (const table of ["tcp", "tcp6"]) {
    const rows = (await readFile(`/proc/self/net/${table}`, "utf8").catch(() => "")).split("\n");
    for (const row of rows) {
      const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/);
      const isPort = Number.parseInt(local.split(":")[1] ?? "", 16) === port;
      if (isPort && state === LISTENS) inodes.add(`socket:[${inode}]`);
    }
  }
  for (const descriptor of await readdir("/proc/self/fd")) {
    const target = await readlink(`/proc/self/fd/${descriptor}`).catch(() => "");
    if (inodes.has(target)) return Number(descriptor);
  }
  return undefined;
}

async function setOptions(socket: number): Promise<void> {
  const child = spawn(PERL, ["-e", SCRIPT], {
    stdio: ["ignore", "ignore", "pipe", socket],
    env: {},
    timeout: CHILD_MS,
  });
  let said = "";
  child.stderr?.on("data", (text: Buffer) => {
    said = (said + text.toString()).slice(-500);
  });
  // Rejects when the program is not there.
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(said.trim() || "The socket options could not be set.");
}
