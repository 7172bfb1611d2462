import { connect, DebugEvents, Events, type NatsConnection } from "nats";
import type { Log } from "../base/log.ts";

interface BusOptions {
  /** One or more addresses, comma-separated. */
  url: string;
  token?: string;
  /** Shown by the server's monitoring. */
  name: string;
  log: Log;
}

/**
 * Connects and stays connected: reconnects for ever, and notices a dead peer
 * within 10 s. Rejects when no server answers within 10 s at the start.
 */
export async function connectBus(options: BusOptions): Promise<NatsConnection> {
  const { url, token, name, log } = options;
  const connection = await connect({
    servers: url.split(",").map((part) => part.trim()),
    ...(token ? { token } : {}),
    name,
    timeout: 10_000,
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
