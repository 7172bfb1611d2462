import { basename } from "node:path";
import type { Screen } from "../setup/screen.mjs";
import type { Part } from "./part.ts";

const WINDOW_MS = 10_000;
const LINES_PER_WINDOW = 4;
const WARNINGS: ReadonlySet<unknown> = new Set(["warn", "error", "fatal"]);

/** Tells the terminal what happens to the parts: deaths, returns, and their warnings in short. */
export class PartReporter {
  readonly #screen: Screen;
  readonly #windows = new Map<string, { endsAt: number; lines: number }>();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  died(part: Part, how: string, delayMs: number): void {
    const [first] = how.split("\n");
    this.#screen.warn(
      `${part.title} ${trimTitle(first ?? "", part)}: restarting in ${seconds(delayMs)}`,
    );
  }

  recovered(part: Part, tookMs: number): void {
    const mark = this.#screen.paint("32", "✓");
    this.#screen.line(`${mark} ${part.title} is back after ${seconds(tookMs)}`);
  }

  /** Shows a pino line of level warn or above; a part that talks much is cut short. */
  logged(part: Part, line: string): void {
    const message = readWarning(line);
    if (message === undefined) return;
    const now = performance.now();
    const window = this.#windows.get(part.name);
    const current = window && window.endsAt > now ? window : { endsAt: now + WINDOW_MS, lines: 0 };
    current.lines += 1;
    this.#windows.set(part.name, current);
    if (current.lines < LINES_PER_WINDOW) this.#screen.warn(`${part.name}: ${message}`);
    if (current.lines === LINES_PER_WINDOW) {
      this.#screen.warn(`${part.name}: more in logs/${basename(part.logFile)}`);
    }
  }
}

function trimTitle(text: string, part: Part): string {
  return text.startsWith(`${part.title} `) ? text.slice(part.title.length + 1) : text;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function readWarning(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const content: Record<string, unknown> = JSON.parse(line);
    if (!WARNINGS.has(content.level)) return undefined;
    return typeof content.msg === "string" ? content.msg.slice(0, 200) : undefined;
  } catch {
    return undefined;
  }
}
