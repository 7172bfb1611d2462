import { EventEmitter } from "node:events";
import { ConnectionError } from "slonik";
import { errorMessage } from "../base/errors.ts";
import { DatabaseServers } from "./database-servers.ts";
import { answered, type DriverClient, type DriverFactory } from "./driver-client.ts";
import { READ_ONLY, sqlState } from "./store-error.ts";

type Subscribe = (event: "destroy", listener: () => void) => unknown;

/** A connection, and how to have it leave the pool as soon as nobody uses it. */
interface SteadyClient {
  client: DriverClient;
  retire(): void;
}

/**
 * slonik's driver over pg for networks that fail and primaries that move. By itself the pool loses
 * a place for ever when a connection breaks in the middle of a query, waits for ever on one that
 * leads nowhere, leaves those who queue for a connection standing when none can be made, and keeps
 * asking a server that has become a standby. `addresses`: one for each server.
 */
export function steadyDriver(addresses: readonly string[], silenceTimeout: number): DriverFactory {
  return async (settings) => {
    const servers = new DatabaseServers(addresses, settings);
    await servers.start();
    const open = new Set<SteadyClient>();
    // One server for all: what is connected to one that takes no changes reads an old state, too.
    const onReadOnly = (): void => {
      for (const each of [...open]) each.retire();
    };
    const createClient = async (): Promise<DriverClient> => {
      const connected = await servers.connect(silenceTimeout);
      const steady = steadyClient(connected, silenceTimeout, onReadOnly);
      open.add(steady);
      steady.client.on("destroy", () => open.delete(steady));
      return steady.client;
    };
    return { createClient: () => createClient().catch(stillbornClient) };
  };
}

/** Leaves the pool the moment its connection is known to be broken, whatever its end does. */
function steadyClient(
  client: DriverClient,
  silenceTimeout: number,
  onReadOnly: () => void,
): SteadyClient {
  const ends = new EventEmitter();
  let isGone = false;
  let isSilent = false;
  let isRetired = false;
  const leave = (): void => {
    if (isGone) return;
    isGone = true;
    ends.emit("destroy");
  };
  client.on("destroy", leave);
  client.on("error", leave);
  const destroy = async (): Promise<void> => {
    leave();
    const ended = client.destroy().catch(() => undefined);
    // The end of a connection that does not answer takes its time, and nobody needs it.
    if (!isSilent) await ended;
  };
  const giveUp = (): void => {
    isSilent = true;
    void destroy();
  };
  const query: DriverClient["query"] = async (text, values) => {
    // A transaction's rollback, for example.
    if (isGone) throw new ConnectionError("The connection to the database is broken.");
    try {
      return await answered(client.query(text, values), silenceTimeout, giveUp);
    } catch (error) {
      if (sqlState(error) === READ_ONLY) onReadOnly();
      throw error;
    }
  };
  return {
    client: {
      ...client,
      ...subscriptions(client, ends),
      state: () => (isGone ? "DESTROYED" : client.state()),
      destroy,
      release: () => (isRetired ? destroy() : client.release()),
      query,
    },
    retire: () => {
      isRetired = true;
      if (!isGone && client.state() === "IDLE") void destroy();
    },
  };
}

/**
 * In the place of a connection that could not be made: its first query says why. As its end is
 * that of a connection, the pool goes on to the next who waits.
 */
function stillbornClient(cause: unknown): DriverClient {
  const ends = new EventEmitter();
  let state: ReturnType<DriverClient["state"]> = "IDLE";
  const refuse = (): never => {
    throw new ConnectionError(errorMessage(cause), { cause: cause as Error });
  };
  const destroy = async (): Promise<void> => {
    if (state === "DESTROYED") return;
    state = "DESTROYED";
    ends.emit("destroy");
  };
  return {
    ...subscriptions(undefined, ends),
    id: () => "none",
    acquire: () => {
      state = "ACQUIRED";
    },
    state: () => state,
    destroy,
    release: destroy,
    query: async () => refuse(),
    stream: refuse,
  };
}

/** `destroy` is told by `ends`, everything else by the client. */
function subscriptions(
  client: DriverClient | undefined,
  ends: EventEmitter,
): Pick<DriverClient, "on" | "off" | "removeListener"> {
  const via = (name: "on" | "off" | "removeListener") => {
    const other = client?.[name] as Subscribe | undefined;
    const subscribe: Subscribe = (event, listener) =>
      event === "destroy" ? ends[name](event, listener) : other?.(event, listener);
    return subscribe as DriverClient["on"];
  };
  return { on: via("on"), off: via("off"), removeListener: via("removeListener") };
}
