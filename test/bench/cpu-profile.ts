import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

const NOT_WORK = new Set(["(idle)", "(program)"]);
const SHOWN = 6;

/**
 * What the functions of some processes took of the processor time that their profiles saw, the
 * largest first. Native code counts for the function that called it.
 */
export function describeProfiles(folder: string, pids: Readonly<Record<string, number>>): string {
  return Object.entries(pids)
    .map(([part, pid]) => ({ part, times: selfTimes(folder, pid) }))
    .filter(({ times }) => times.size > 0)
    .map(({ part, times }) => `${part}: ${describe(times)}`)
    .join("; ");
}

/** Microseconds by function, of all threads. */
function selfTimes(folder: string, pid: number): Map<string, number> {
  const times = new Map<string, number>();
  if (!existsSync(folder)) return times;
  for (const name of readdirSync(folder)) {
    // CPU.day.time.pid.thread.number.cpuprofile
    if (Number(name.split(".")[3]) !== pid) continue;
    const profile = JSON.parse(readFileSync(join(folder, name), "utf8")) as Profile;
    const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
    for (const [index, id] of profile.samples.entries()) {
      const key = names.get(id) ?? "?";
      times.set(key, (times.get(key) ?? 0) + (profile.timeDeltas[index] ?? 0));
    }
  }
  return times;
}

function nameOf({ functionName, url }: Profile["nodes"][number]["callFrame"]): string {
  if (url === "") return functionName;
  const path = url.startsWith("file:") ? fileURLToPath(url) : url;
  return `${functionName || "anonymous"} (${join(basename(dirname(path)), basename(path))})`;
}

function describe(times: ReadonlyMap<string, number>): string {
  const work = [...times].filter(([name]) => !NOT_WORK.has(name)).sort((a, b) => b[1] - a[1]);
  const total = work.reduce((sum, [, micros]) => sum + micros, 0);
  const largest = work
    .slice(0, SHOWN)
    .map(([name, micros]) => `${name} ${((100 * micros) / total).toFixed(1)} %`);
  return `${(total / 1e6).toFixed(1)} s of ${largest.join(", ")}`;
}
