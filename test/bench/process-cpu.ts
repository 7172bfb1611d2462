import { readdirSync, readFileSync } from "node:fs";

/** Nanoseconds that the kernel counted, for each thread by itself; ticks would be too coarse for little work. */
export function exactCpuSeconds(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((sum, thread) => {
      const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8");
      return sum + Number(text.split(" ")[0]) / 1e9;
    }, 0);
  } catch {
    return cpuSeconds(pid);
  }
}

/** The same of a process and its children, those that have ended among them, without `but`. */
export function familyCpuSeconds(parent: number, but: ReadonlySet<number>): number {
  const children = childrenOf(parent).filter((pid) => !but.has(pid));
  const fields = statOf(parent);
  const ended = (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / TICKS;
  return [parent, ...children].reduce((sum, pid) => sum + exactCpuSeconds(pid), ended);
}

export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** Ticks of a second in /proc. */
const TICKS = 100;

/** User and system time of a process so far, seconds; 0 for one that is gone. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS;
}

/** The same of a process and all below it, those that have ended among them. */
export function treeCpuSeconds(root: number): number {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  const parents = new Map(pids.map((pid) => [pid, Number(statOf(pid)[1] ?? 0)]));
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) {
      if (at === root) return true;
    }
    return false;
  };
  return pids
    .filter(isBelow)
    .map((pid) => statOf(pid).slice(11, 15))
    .reduce((sum, times) => sum + times.reduce((one, ticks) => one + Number(ticks) / TICKS, 0), 0);
}

/** The process above one; 0 when it is gone. */
export function parentOf(pid: number): number {
  return Number(statOf(pid)[1] ?? 0);
}

/** User and system time of all children of this process that have ended. */
export function endedChildrenCpuSeconds(): number {
  const fields = statOf("self");
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / TICKS;
}

/** What follows the process's name, which may hold anything. */
function statOf(pid: number | "self"): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
