import type { NatsConnection } from "nats";
import {
  tryWorkerAnnouncement,
  WORKER_ANNOUNCE_SUBJECT,
  type WorkerAnnouncement,
} from "../wire/worker-announcement.ts";

/** Hands on what workers announce. Returns how to stop. */
export function followWorkers(
  connection: NatsConnection,
  onAnnouncement: (announcement: WorkerAnnouncement) => void,
): () => void {
  const subscription = connection.subscribe(WORKER_ANNOUNCE_SUBJECT, {
    callback: (_error, message) => {
      const announcement = tryWorkerAnnouncement(message.data);
      if (announcement !== undefined) onAnnouncement(announcement);
    },
  });
  return () => subscription.unsubscribe();
}
