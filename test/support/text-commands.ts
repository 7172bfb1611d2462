import { until } from "./until.ts";

/** Channel on which a test tells threads of `command-text-entry` what to do. */
export const TEXT_COMMANDS = "commands to threads for text";

/** `end` ends the thread. A block begins when the second number becomes 1, and lasts until the first is. */
export type TextCommand = "end" | { blockUntil: Int32Array };

/** Blocks and ends the process's threads of `command-text-entry`. */
export class TextThreadCommands {
  readonly #channel = new BroadcastChannel(TEXT_COMMANDS);
  readonly #gate = new Int32Array(new SharedArrayBuffer(8));

  /** Resolves when a thread is blocked. */
  async block(): Promise<void> {
    this.#send({ blockUntil: this.#gate });
    await until(() => Atomics.load(this.#gate, 1) === 1, "the thread to be blocked");
  }

  release(): void {
    Atomics.store(this.#gate, 0, 1);
    Atomics.notify(this.#gate, 0);
  }

  end(): void {
    this.#send("end");
  }

  close(): void {
    this.release();
    this.#channel.close();
  }

  #send(command: TextCommand): void {
    this.#channel.postMessage(command);
  }
}
