import { connect, DebugEvents, Events, type NatsConnection } from "nats";
import type { Log } from "../base/log.ts";
import { loginOptions, type NatsLogin } from "../wire/nats-login.ts";
import { WORKER_ANNOUNCE_SUBJECT } from "../wire/subjects.ts";
import {
  acceptsKey,
  tryWorkerAnnouncement,
  type WorkerAnnouncement,
} from "../wire/worker-announcement.ts";
import type { MessageBus } from "./message-bus.ts";

export interface BusOptions extends NatsLogin {
  /** One or more addresses, comma-separated. */
  url: string;
  /** Name of the connection in the server's monitoring. */
  name: string;
  log: Log;
  /** The server sends nothing back that came over this connection. */
  noEcho?: boolean;
}

/**
 * Connects and stays connected: reconnects for ever, and detects a dead peer within 10 s. Rejects
 * when no server answers within 5 s at the start.
 */
export async function connectBus(options: BusOptions): Promise<NatsConnection> {
  const { url, name, log, noEcho } = options;
  const connection = await connect({
    ...loginOptions(url, options),
    ...{ name, noEcho },
    timeout: 5_000,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    pingInterval: 5_000,
    maxPingOut: 2,
  });
  void watch(connection, log);
  return connection;
}

async function watch(connection: NatsConnection, log: Log): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === Events.Disconnect) log.warn({}, "NATS connection lost, reconnecting");
    else if (status.type === Events.Reconnect) log.info({}, "NATS connection is back");
    else if (status.type === Events.Error) log.warn({ error: String(status.data) }, "NATS error");
    else if (status.type === DebugEvents.StaleConnection) log.warn({}, "NATS stopped answering");
  }
}

const MAX_STRANGERS = 1_000;

interface WorkerDiscoveryOptions {
  /** The key that our calls carry. */
  key: string;
  onAnnouncement: (announcement: WorkerAnnouncement) => void;
  /** Why nothing may be sent to `host:port`, told in half a sentence; undefined when it may. */
  refusalOf: (address: string) => string | undefined;
  log: Log;
}

/**
 * Passes on the announcements of workers that accept our calls and may have them; any other is
 * logged once. Returns a function that stops it.
 */
export function followWorkers(
  line: MessageBus,
  { key, onAnnouncement, refusalOf, log }: WorkerDiscoveryOptions,
): () => void {
  const strangers = new Set<string>();
  const otherKey =
    "has another WORKER_KEY than this process, so it gets no work: give all of them the same";
  return line.subscribe(WORKER_ANNOUNCE_SUBJECT, (data) => {
    const announcement = tryWorkerAnnouncement(data);
    if (announcement === undefined) return;
    const { worker_id, address } = announcement;
    const refusal = acceptsKey(announcement, key) ? refusalOf(address) : otherKey;
    // The fingerprint is removed, because it is only needed here.
    if (refusal === undefined)
      return onAnnouncement({ ...announcement, key_fingerprint: undefined });
    if (strangers.has(address) || strangers.size >= MAX_STRANGERS) return;
    strangers.add(address);
    log.warn({ worker_id, address }, `worker ${worker_id} at ${address} ${refusal}`);
  });
}
