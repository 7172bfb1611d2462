import type { ConsumerMessages, JetStreamManager, JsMsg, NatsConnection } from "nats";
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
import { COMMAND_STREAM } from "../wire/subjects.ts";
import {
  consumerName,
  ensureCommandStream,
  MAX_UNDER_WAY,
  resetConsumer,
} from "./command-stream.ts";

/** Milliseconds until a command that could not be carried out comes again. */
const AGAIN_MS = 500;
const OVERLOADED_MS = 2_000;

/** Carries a command out; settles after its events are durable. */
export type Deliver = (envelope: CommandEnvelope) => Promise<unknown>;

export interface PartitionInboxParts {
  connection: NatsConnection;
  deliver: Deliver;
  log: Log;
  /** Copies that a NATS cluster keeps of the commands. */
  replicas: number;
  runtime: Runtime;
}

/**
 * Reads the commands of owned partitions and acknowledges each after its events
 * are durable. When the stream or a consumer vanishes it is made again.
 */
export class PartitionInbox implements QueueOwner {
  readonly #connection: NatsConnection;
  readonly #deliver: Deliver;
  readonly #log: Log;
  readonly #replicas: number;
  readonly #runtime: Runtime;
  readonly #readers = new Map<number, AbortController>();
  /** Commands of each partition that are being carried out. */
  readonly #inHand = new Map<number, number>();
  #overloaded = 0;

  constructor(parts: PartitionInboxParts) {
    this.#connection = parts.connection;
    this.#deliver = parts.deliver;
    this.#log = parts.log;
    this.#replicas = parts.replicas;
    this.#runtime = parts.runtime;
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
    for (let failures = 0; !signal.aborted; ) {
      try {
        const manager = await this.#connection.jetstreamManager();
        await this.#consume(manager, partition, signal);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 3) {
          this.#log.warn({ partition, error: errorMessage(error) }, "commands not readable");
        }
      }
      const rest = Math.min(5_000, 200 * 2 ** Math.min(failures, 5));
      if (!signal.aborted) await this.#runtime.delay(rest, signal);
    }
  }

  async #consume(manager: JetStreamManager, partition: number, signal: AbortSignal): Promise<void> {
    await ensureCommandStream(manager, this.#replicas);
    await resetConsumer(manager, partition);
    const consumer = await manager
      .jetstream()
      .consumers.get(COMMAND_STREAM, consumerName(partition));
    const messages: ConsumerMessages = await consumer.consume({
      max_messages: 64,
      expires: 30_000,
    });
    const stop = (): void => messages.stop();
    signal.addEventListener("abort", stop, { once: true });
    void this.#watch(messages);
    try {
      for await (const message of messages) void this.#count(partition, message);
    } finally {
      signal.removeEventListener("abort", stop);
      messages.stop();
    }
  }

  /** Ends the reading when the server no longer knows the consumer. */
  async #watch(messages: ConsumerMessages): Promise<void> {
    for await (const status of await messages.status()) {
      const gone = ["consumer_deleted", "consumer_not_found", "stream_not_found"];
      if (gone.includes(status.type)) messages.stop();
      if (status.type === "heartbeats_missed" && Number(status.data) >= 3) messages.stop();
    }
  }

  async #count(partition: number, message: JsMsg): Promise<void> {
    this.#inHand.set(partition, (this.#inHand.get(partition) ?? 0) + 1);
    await this.#handle(message);
    const left = (this.#inHand.get(partition) ?? 1) - 1;
    if (left > 0) this.#inHand.set(partition, left);
    else this.#inHand.delete(partition);
  }

  async #handle(message: JsMsg): Promise<void> {
    const envelope = decodeEnvelope(message.data);
    if (envelope === undefined) {
      this.#log.error({ subject: message.subject }, "malformed command dropped");
      message.term();
      return;
    }
    try {
      const value = await this.#deliver(envelope);
      message.ack();
      this.#reply(envelope, { id: envelope.id, ok: true, value });
    } catch (error) {
      this.#refuse(message, envelope, toAppError(error));
    }
  }

  #refuse(message: JsMsg, envelope: CommandEnvelope, error: AppError): void {
    if (error.retryable) {
      const isFull = error.code === "overloaded";
      if (isFull) this.#overloaded += 1;
      // An actor that cannot keep up gets it again when it may have worked some of it off.
      message.nak(isFull ? OVERLOADED_MS : AGAIN_MS);
      return;
    }
    message.ack();
    const { code, message: text } = error;
    this.#reply(envelope, { id: envelope.id, ok: false, code, message: text });
    if (code === "internal") {
      this.#log.error(
        { command: envelope.command.type, cause: String(error.cause) },
        "command failed",
      );
    }
  }

  #reply(envelope: CommandEnvelope, reply: CommandReply): void {
    if (envelope.replyTo === undefined || this.#connection.isClosed()) return;
    this.#connection.publish(envelope.replyTo, encodeJson(reply));
  }
}
