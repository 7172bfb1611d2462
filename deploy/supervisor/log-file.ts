import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";

const LARGEST = 10 * 1024 * 1024;
const KEPT = 3;
const RECENT_LINES = 40;

/**
 * The output of one part: in a file that is rotated when it grows past 10 MB (three old ones are
 * kept), split into lines for whoever listens, the last of them kept for error messages.
 */
export class LogFile {
  readonly path: string;
  #fd: number;
  #size: number;
  #partial = "";
  #recent: string[] = [];
  readonly #onLine: (line: string) => void;

  constructor(path: string, onLine: (line: string) => void) {
    this.path = path;
    this.#onLine = onLine;
    this.#fd = openSync(path, "a", 0o600);
    this.#size = fstatSync(this.#fd).size;
    if (this.#size > LARGEST / 2) this.#rotate();
  }

  write(chunk: string): void {
    try {
      this.#size += writeSync(this.#fd, chunk);
    } catch {
      // a full disk must not stop the supervisor; the lines still reach whoever listens
    }
    if (this.#size > LARGEST) this.#rotate();
    const lines = (this.#partial + chunk).split("\n");
    this.#partial = (lines.pop() ?? "").slice(-LARGEST / 10);
    for (const line of lines) this.#take(line);
  }

  recent(count: number): string[] {
    return this.#recent.slice(-count);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #take(line: string): void {
    if (line.trim() === "") return;
    this.#recent = [...this.#recent, line].slice(-RECENT_LINES);
    this.#onLine(line);
  }

  #rotate(): void {
    closeSync(this.#fd);
    for (let age = KEPT; age > 1; age -= 1) {
      if (existsSync(`${this.path}.${age - 1}`)) {
        renameSync(`${this.path}.${age - 1}`, `${this.path}.${age}`);
      }
    }
    renameSync(this.path, `${this.path}.1`);
    this.#fd = openSync(this.path, "a", 0o600);
    this.#size = 0;
  }
}
