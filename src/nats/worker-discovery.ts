import type { Log } from "../base/log.ts";
import {
  acceptsKey,
  tryWorkerAnnouncement,
  WORKER_ANNOUNCE_SUBJECT,
  type WorkerAnnouncement,
} from "../wire/worker-announcement.ts";
import type { Line } from "./line.ts";

const MAX_STRANGERS = 1_000;

interface WorkerDiscoveryOptions {
  /** What our calls bear. */
  key: string | undefined;
  onAnnouncement: (announcement: WorkerAnnouncement) => void;
  log: Log;
}

/**
 * Hands on what workers announce that take our calls; one that has another key is told in the log
 * once. Returns how to stop.
 */
export function followWorkers(
  line: Line,
  { key, onAnnouncement, log }: WorkerDiscoveryOptions,
): () => void {
  const strangers = new Set<string>();
  return line.subscribe(WORKER_ANNOUNCE_SUBJECT, (data) => {
    const announcement = tryWorkerAnnouncement(data);
    if (announcement === undefined) return;
    if (acceptsKey(announcement, key)) {
      // Nobody else needs it, nor should see it.
      return onAnnouncement({ ...announcement, key_fingerprint: undefined });
    }
    const { worker_id, address } = announcement;
    if (strangers.has(address) || strangers.size >= MAX_STRANGERS) return;
    strangers.add(address);
    log.warn(
      { worker_id, address },
      `worker ${worker_id} at ${address} has another WORKER_KEY than this process, so it gets no work: give all of them the same`,
    );
  });
}
