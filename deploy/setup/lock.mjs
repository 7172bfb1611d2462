import { createHash } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { cacheDir } from "./paths.mjs";
import { StepError } from "./step-error.mjs";

const WAIT_MS = 15 * 60_000;
const POLL_MS = 200;

/**
 * Runs `work` while no other process of this user does the same for `subject` (a folder).
 * A lock whose holder died (pid and start time are compared) is taken over.
 */
export async function withLock(subject, work, onWait) {
  const folder = join(cacheDir(), "locks");
  const name = createHash("sha256").update(subject).digest("hex").slice(0, 24);
  const file = join(folder, `${name}.lock`);
  await acquire(file, subject, onWait);
  try {
    return await work();
  } finally {
    if (readHolder(file)?.pid === process.pid) rmSync(file, { force: true });
  }
}

async function acquire(file, subject, onWait) {
  const deadline = Date.now() + WAIT_MS;
  let told = false;
  while (!tryLink(file)) {
    const holder = readHolder(file);
    if (holder && !isAlive(holder)) {
      takeAway(file, holder);
      continue;
    }
    if (Date.now() > deadline) {
      throw new StepError(
        `another set-up (pid ${holder?.pid}) has been at work on ${subject} for 15 minutes`,
        `stop that process, or delete ${file} when it is not ours, and try again`,
      );
    }
    if (!told && holder) onWait?.(holder.pid);
    told = true;
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
}

function writeOwn(file) {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ pid: process.pid, startTime: startTime(process.pid) }));
  } catch (error) {
    throw new StepError(
      `the cache folder ${cacheDir()} cannot be written to (${error.code})`,
      "choose one of your own with VOICE_CACHE_DIR",
    );
  }
}

/** A hard link appears whole or not at all, so a reader never sees half a lock. */
function tryLink(file) {
  const own = `${file}.${process.pid}`;
  writeOwn(own);
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Renames before deleting: of two that see a dead holder, one moves the file and one fails. */
function takeAway(file, holder) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  const someoneElses = moved && moved.pid !== holder.pid && isAlive(moved);
  if (someoneElses) {
    try {
      linkSync(aside, file);
    } catch {
      // a third process holds the lock by now: the one moved aside runs beside it, once, unlocked
    }
  }
  rmSync(aside, { force: true });
}

function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function isAlive(holder) {
  return startTime(holder.pid) === holder.startTime;
}

function startTime(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return "gone";
  }
}
