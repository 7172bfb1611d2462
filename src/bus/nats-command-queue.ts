import {
  type ConsumerMessages,
  ErrorCode,
  headers,
  type JetStreamClient,
  type JsMsg,
  type NatsConnection,
  NatsError,
} from "nats";
import { COMMAND_STREAM, commandSubject } from "../wire/subjects.ts";
import { away, type CommandQueue, type QueuedCommand } from "./command-queue.ts";
import { consumerName, ensureCommandStream, resetConsumer } from "./command-stream.ts";

const PUBLISH_TIMEOUT = 3_000;

const REFUSALS: ReadonlySet<string> = new Set([
  ErrorCode.NoResponders,
  ErrorCode.ConnectionClosed,
  ErrorCode.ConnectionDraining,
]);

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
    try {
      await this.#jetstream.publish(commandSubject(partition), data, { headers: headOf(id) });
    } catch (error) {
      throw isRefused(error) ? away(error) : error;
    }
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

/** The server, or the connection, has said no; silence says nothing. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof NatsError)) return false;
  return error.api_error !== undefined || REFUSALS.has(error.code);
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
