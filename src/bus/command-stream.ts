import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
} from "nats";
import { COMMAND_STREAM, COMMAND_SUBJECTS, commandSubject } from "../wire/subjects.ts";
import { ACK_WAIT, MAX_UNDER_WAY } from "./command-queue.ts";

/** Bytes that undelivered commands may take; PostgreSQL has them all anyway. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * The one stream that carries commands. It is a transport: it may be deleted at
 * any time and is then simply made again.
 */
export async function ensureCommandStream(
  manager: JetStreamManager,
  replicas: number,
): Promise<void> {
  try {
    await manager.streams.info(COMMAND_STREAM);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await manager.streams.add({
      name: COMMAND_STREAM,
      subjects: [COMMAND_SUBJECTS],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      num_replicas: replicas,
      discard: DiscardPolicy.Old,
      max_bytes: MAX_BYTES,
      max_age: nanos(3_600_000),
      duplicate_window: nanos(120_000),
    });
  }
}

/** Name of the consumer of one partition. */
export function consumerName(partition: number): string {
  return `p${partition}`;
}

/**
 * The consumer for a partition's new owner. What the earlier owner had in hand
 * would come again only after its acknowledgement wait, and an owner that stands
 * still with its connection open would be given more: then it is made anew. Else
 * it serves on, as making one takes a cluster several rounds.
 */
export async function resetConsumer(manager: JetStreamManager, partition: number): Promise<void> {
  const name = consumerName(partition);
  try {
    const info = await manager.consumers.info(COMMAND_STREAM, name);
    if (info.num_ack_pending + info.num_waiting === 0) return;
    await manager.consumers.delete(COMMAND_STREAM, name);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  await manager.consumers.add(COMMAND_STREAM, {
    durable_name: name,
    filter_subject: commandSubject(partition),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ACK_WAIT),
    max_ack_pending: MAX_UNDER_WAY,
  });
}

export function isNotFound(error: unknown): boolean {
  return error instanceof NatsError && (error.code === "404" || error.api_error?.code === 404);
}
