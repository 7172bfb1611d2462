import {
  type ConsumerMessages,
  headers,
  type JetStreamClient,
  type JsMsg,
  type NatsConnection,
} from "nats";
import { COMMAND_STREAM, commandSubject } from "../wire/subjects.ts";
import type { CommandQueue, QueuedCommand } from "./command-queue.ts";
import { consumerName, ensureCommandStream, resetConsumer } from "./command-stream.ts";

const PUBLISH_TIMEOUT = 3_000;

/** Commands in a JetStream stream. When it or a consumer vanishes, reading makes it again. */
export class NatsCommandQueue implements CommandQueue {
  readonly #connection: NatsConnection;
  readonly #jetstream: JetStreamClient;
  readonly #replicas: number;

  /** `replicas`: copies that a NATS cluster keeps of the commands. */
  constructor(connection: NatsConnection, replicas: number) {
    this.#connection = connection;
    this.#jetstream = connection.jetstream({ timeout: PUBLISH_TIMEOUT });
    this.#replicas = replicas;
  }

  async put(partition: number, id: string, data: Uint8Array): Promise<void> {
    await this.#jetstream.publish(commandSubject(partition), data, { headers: headOf(id) });
  }

  post(partition: number, id: string, data: Uint8Array): void {
    this.#connection.publish(commandSubject(partition), data, { headers: headOf(id) });
  }

  async read(
    partition: number,
    signal: AbortSignal,
    onCommand: (command: QueuedCommand) => void,
  ): Promise<void> {
    const manager = await this.#connection.jetstreamManager();
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
    void watch(messages);
    try {
      for await (const message of messages) onCommand(toQueued(message));
    } finally {
      signal.removeEventListener("abort", stop);
      messages.stop();
    }
  }
}

function headOf(id: string) {
  const head = headers();
  head.set("Nats-Msg-Id", id);
  return head;
}

function toQueued(message: JsMsg): QueuedCommand {
  return {
    data: message.data,
    done: () => message.ack(),
    again: (ms) => message.nak(ms),
    drop: () => message.term(),
  };
}

/** Ends the reading when the server no longer knows the consumer. */
async function watch(messages: ConsumerMessages): Promise<void> {
  for await (const status of await messages.status()) {
    const gone = ["consumer_deleted", "consumer_not_found", "stream_not_found"];
    if (gone.includes(status.type)) messages.stop();
    if (status.type === "heartbeats_missed" && Number(status.data) >= 3) messages.stop();
  }
}
