import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { withTimeout } from "../../src/base/deferred.ts";

interface Answer {
  result?: unknown;
  error?: string;
}

const STOP_MS = 5_000;

/** A part of a measurement in a process of its own, asked over IPC, one question at a time. */
export class ChildTask {
  readonly #child: ChildProcess;
  readonly #name: string;

  /** `entry` is a file beside this one that calls `answerParent`. */
  constructor(entry: string, args: readonly string[] = [], nodeFlags: readonly string[] = []) {
    this.#name = `${entry} ${args.join(" ")}`.trim();
    this.#child = fork(join(import.meta.dirname, entry), args, {
      execArgv: ["--disable-warning=ExperimentalWarning", ...nodeFlags],
      serialization: "advanced",
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Rejects with what the child threw, when it ends, or after `limitMs`. */
  async ask<T>(question: object, limitMs = 120_000): Promise<T> {
    const ended = new AbortController();
    const gone = once(this.#child, "exit", { signal: ended.signal }).then(() => {
      throw new Error(`${this.#name} ended before it answered`);
    });
    gone.catch(() => {});
    const answer = once(this.#child, "message", { signal: ended.signal });
    answer.catch(() => {});
    this.#child.send(question);
    try {
      const [{ result, error }] = (await withTimeout(
        Promise.race([answer, gone]),
        limitMs,
        this.#name,
      )) as [Answer];
      if (error !== undefined) throw new Error(`${this.#name}: ${error}`);
      return result as T;
    } finally {
      ended.abort();
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS);
    await gone;
    clearTimeout(timer);
  }
}
