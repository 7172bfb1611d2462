import { readFileSync } from "node:fs";

/** A process that cannot be confused with a later one of the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Boot id and clock ticks from boot to the start of the process, from /proc. */
  readonly startedAt: string;
}

/** Undefined when there is no such process, or only the zombie of one. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const stat = readProcStat(pid);
  if (!stat || stat.state === "Z" || stat.state === "X") return undefined;
  return { pid, startedAt: `${bootId()}:${stat.startTicks}` };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

/** As one text, for an environment variable. */
export function printIdentity({ pid, startedAt }: ProcessIdentity): string {
  return `${pid}@${startedAt}`;
}

export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [, pid, startedAt] = /^(\d+)@(.+)$/.exec(text) ?? [];
  return pid && startedAt ? { pid: Number(pid), startedAt } : undefined;
}

/** The parent's number, undefined when the process is gone. */
export function parentOf(pid: number): number | undefined {
  return readProcStat(pid)?.parent;
}

/** The command's name may hold spaces and parentheses: fields count from the last ")". */
function readProcStat(pid: number) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0], parent: Number(fields[1]), startTicks: fields[19] };
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "unknown";
  }
}
