import { readFileSync } from "node:fs";

/** Ticks of a second in /proc. */
const TICKS = 100;

/** User and system time of a process so far, seconds; 0 for one that is gone. */
export function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return 0;
  }
}
