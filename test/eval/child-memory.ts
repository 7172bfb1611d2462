import { readFileSync } from "node:fs";

const EVERY_MS = 10;

/** Watches the memory of this process's children, by Linux's own count of each one's most. */
export class ChildMemory {
  readonly #timer = setInterval(() => this.#look(), EVERY_MS);
  /** MiB; 0 while there is no child, and on other systems. */
  most = 0;

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const child of read(`/proc/self/task/${process.pid}/children`).split(" ")) {
      const peak = /VmHWM:\s+(\d+) kB/.exec(child && read(`/proc/${child}/status`))?.[1];
      this.most = Math.max(this.most, Number(peak ?? 0) / 1_024);
    }
  }
}

/** "" for a process that has just ended. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
