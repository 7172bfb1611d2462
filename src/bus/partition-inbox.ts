import { type AppError, errorMessage, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import type { Runtime } from "../base/runtime.ts";
import {
  type CommandEnvelope,
  type CommandReply,
  decodeEnvelope,
  encodeJson,
} from "../wire/envelope.ts";
import { type CommandQueue, MAX_UNDER_WAY, type QueuedCommand } from "./command-queue.ts";
import type { Line } from "./line.ts";

/** Milliseconds until a command that could not be carried out comes again. */
const AGAIN_MS = 500;
const OVERLOADED_MS = 2_000;

/** Carries a command out; settles after its events are durable. */
export type Deliver = (envelope: CommandEnvelope) => Promise<unknown>;

export interface PartitionInboxParts {
  queue: Pick<CommandQueue, "read">;
  /** Where the answers go. */
  line: Pick<Line, "publish">;
  deliver: Deliver;
  log: Log;
  runtime: Runtime;
}

/**
 * Reads the commands of owned partitions and acknowledges each after its events
 * are durable. A reading that breaks is begun again.
 */
export class PartitionInbox implements QueueOwner {
  readonly #parts: PartitionInboxParts;
  readonly #readers = new Map<number, AbortController>();
  /** Commands of each partition that are being carried out. */
  readonly #inHand = new Map<number, number>();
  #overloaded = 0;

  constructor(parts: PartitionInboxParts) {
    this.#parts = parts;
  }

  get queues(): readonly QueueFigures[] {
    const length = longest(this.#inHand.values());
    return [{ queue: "commands", length, limit: MAX_UNDER_WAY, refused: this.#overloaded }];
  }

  open(partition: number): void {
    if (this.#readers.has(partition)) return;
    const stop = new AbortController();
    this.#readers.set(partition, stop);
    void this.#read(partition, stop.signal);
  }

  close(partition: number): void {
    this.#readers.get(partition)?.abort();
    this.#readers.delete(partition);
  }

  stop(): void {
    for (const partition of [...this.#readers.keys()]) this.close(partition);
  }

  async #read(partition: number, signal: AbortSignal): Promise<void> {
    const { queue, log, runtime } = this.#parts;
    for (let failures = 0; !signal.aborted; ) {
      try {
        await queue.read(partition, signal, (command) => void this.#count(partition, command));
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 3) {
          log.warn({ partition, error: errorMessage(error) }, "commands not readable");
        }
      }
      const rest = Math.min(5_000, 200 * 2 ** Math.min(failures, 5));
      if (!signal.aborted) await runtime.delay(rest, signal);
    }
  }

  async #count(partition: number, message: QueuedCommand): Promise<void> {
    this.#inHand.set(partition, (this.#inHand.get(partition) ?? 0) + 1);
    await this.#handle(partition, message);
    const left = (this.#inHand.get(partition) ?? 1) - 1;
    if (left > 0) this.#inHand.set(partition, left);
    else this.#inHand.delete(partition);
  }

  async #handle(partition: number, message: QueuedCommand): Promise<void> {
    const envelope = decodeEnvelope(message.data);
    if (envelope === undefined) {
      this.#parts.log.error({ partition }, "malformed command dropped");
      message.drop();
      return;
    }
    try {
      const value = await this.#parts.deliver(envelope);
      message.done();
      this.#reply(envelope, { id: envelope.id, ok: true, value });
    } catch (error) {
      this.#refuse(message, envelope, toAppError(error));
    }
  }

  #refuse(message: QueuedCommand, envelope: CommandEnvelope, error: AppError): void {
    if (error.retryable) {
      const isFull = error.code === "overloaded";
      if (isFull) this.#overloaded += 1;
      // An actor that cannot keep up gets it again when it may have worked some of it off.
      message.again(isFull ? OVERLOADED_MS : AGAIN_MS);
      return;
    }
    message.done();
    // Who asked for it has gone to the record.
    if (error.code === "too_late") return;
    const { code, message: text } = error;
    this.#reply(envelope, { id: envelope.id, ok: false, code, message: text });
    if (code === "internal") {
      this.#parts.log.error(
        { command: envelope.command.type, cause: String(error.cause) },
        "command failed",
      );
    }
  }

  #reply(envelope: CommandEnvelope, reply: CommandReply): void {
    if (envelope.replyTo !== undefined) {
      this.#parts.line.publish(envelope.replyTo, encodeJson(reply));
    }
  }
}
