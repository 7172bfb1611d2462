import { readdirSync, readFileSync } from "node:fs";
import { identifyProcess, isRunning, type ProcessIdentity, parentOf } from "./process-identity.ts";
import { readRunRecord } from "./run-record.ts";

/** Every child carries its data folder's id in this variable. */
export const OWNER_VARIABLE = "VOICE_DATA_ID";

const POLL_MS = 50;
const LADDER: readonly { signal: NodeJS.Signals; waitMs: number }[] = [
  // PostgreSQL takes SIGINT as "stop at once but cleanly"; for the others it is a stop as well
  { signal: "SIGINT", waitMs: 4_000 },
  { signal: "SIGTERM", waitMs: 2_000 },
  { signal: "SIGQUIT", waitMs: 1_000 },
  { signal: "SIGKILL", waitMs: 2_000 },
];

/**
 * What a supervisor that was killed left running on this data folder: those in its record and
 * those that carry the folder's id, as one may have been started just before the record was
 * written.
 */
export function findLeftovers(recordFile: string, dataId: string): ProcessIdentity[] {
  const recorded = Object.values(readRunRecord(recordFile)?.parts ?? {}).filter(isRunning);
  const found = new Map(recorded.map((identity) => [identity.pid, identity]));
  for (const pid of processNumbers()) {
    if (pid === process.pid || !carriesId(pid, dataId)) continue;
    const identity = identifyProcess(pid);
    if (identity) found.set(pid, identity);
  }
  return [...found.values()].filter(({ pid }) => !found.has(parentOf(pid) ?? 0));
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

function carriesId(pid: number, dataId: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`${OWNER_VARIABLE}=${dataId}`);
  } catch {
    return false;
  }
}
