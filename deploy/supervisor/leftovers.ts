import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { StepError } from "../setup/step-error.mjs";
import {
  identifyProcess,
  isRunning,
  type ProcessIdentity,
  parentOf,
  parseIdentity,
  printIdentity,
} from "./process-identity.ts";
import { readRunRecord } from "./run-record.ts";

const ID = "VOICE_DATA_ID";
const FOLDER = "VOICE_DATA_FOLDER";
const SUPERVISOR = "VOICE_SUPERVISOR";

/** Whose a process is: the folder's id, and, as a copy has the same one, which folder that was. */
export interface Owner {
  readonly id: string;
  /** Device and inode. */
  readonly folder: string;
}

const POLL_MS = 50;
const LADDER: readonly { signal: NodeJS.Signals; waitMs: number }[] = [
  // PostgreSQL takes SIGINT as "stop at once but cleanly"; for the others it is a stop as well
  { signal: "SIGINT", waitMs: 4_000 },
  { signal: "SIGTERM", waitMs: 2_000 },
  { signal: "SIGQUIT", waitMs: 1_000 },
  { signal: "SIGKILL", waitMs: 2_000 },
];

/** What every child carries in its environment, so that it is known when this process is gone. */
export function ownerMarks({ id, folder }: Owner): Record<string, string> {
  const supervisor = identifyProcess(process.pid);
  const marks = { [ID]: id, [FOLDER]: folder };
  return supervisor ? { ...marks, [SUPERVISOR]: printIdentity(supervisor) } : marks;
}

/**
 * What a supervisor that was killed left running on this very folder: those in its record and
 * those that carry its marks, as one may have been started just before the record was written.
 * Never those of another folder, nor of a supervisor that runs: throws a StepError for the latter.
 */
export function findLeftovers(recordFile: string, owner: Owner): ProcessIdentity[] {
  const found = new Map(recordedParts(recordFile, owner).map((each) => [each.pid, each]));
  for (const pid of processNumbers()) {
    if (pid === process.pid || !isOf(pid, owner)) continue;
    const identity = identifyProcess(pid);
    if (identity) found.set(pid, identity);
  }
  return [...found.values()].filter(({ pid }) => !found.has(parentOf(pid) ?? 0));
}

/** A record that came with a copy names processes of the original. */
function recordedParts(recordFile: string, { folder }: Owner): ProcessIdentity[] {
  const record = readRunRecord(recordFile);
  if (record?.folder !== folder) return [];
  if (isRunning(record.supervisor)) throw isSupervised(record.supervisor.pid);
  return Object.values(record.parts).filter(isRunning);
}

/** Returns those that outlived even SIGKILL. */
export async function stopLeftovers(leftovers: ProcessIdentity[]): Promise<ProcessIdentity[]> {
  let left = leftovers;
  for (const { signal, waitMs } of LADDER) {
    for (const { pid } of left) send(pid, signal);
    left = await waitForEnd(left, waitMs);
    if (left.length === 0) return [];
  }
  return left;
}

async function waitForEnd(running: ProcessIdentity[], waitMs: number): Promise<ProcessIdentity[]> {
  const deadline = performance.now() + waitMs;
  let left = running.filter(isRunning);
  while (left.length > 0 && performance.now() < deadline) {
    await new Promise((wake) => setTimeout(wake, POLL_MS));
    left = left.filter(isRunning);
  }
  return left;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ended on its own in between
  }
}

function processNumbers(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function isOf(pid: number, { id, folder }: Owner): boolean {
  const marks = readMarks(pid);
  if (marks.get(ID) !== id || marks.get(FOLDER) !== folder) return false;
  if (isElsewhere(pid)) throw isSupervised(pid);
  const supervisor = parseIdentity(marks.get(SUPERVISOR) ?? "");
  if (supervisor && isRunning(supervisor)) throw isSupervised(supervisor.pid);
  return true;
}

function readMarks(pid: number): Map<string, string> {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return new Map(entries.map((entry) => splitOnce(entry)));
  } catch {
    // gone, or another user's
    return new Map();
  }
}

function splitOnce(entry: string): [string, string] {
  const at = entry.indexOf("=");
  return [entry.slice(0, at), entry.slice(at + 1)];
}

/** In a container whose process numbers are not ours: its supervisor cannot be looked for. */
function isElsewhere(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync("/proc/self/ns/pid");
  } catch {
    return false;
  }
}

function isSupervised(pid: number): StepError {
  return new StepError(
    `this data folder is in use: process ${pid} runs on it, perhaps in a container`,
    `stop the service that it belongs to, or choose another folder with --data DIR`,
  );
}
