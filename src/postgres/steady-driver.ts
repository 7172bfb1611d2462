import { EventEmitter } from "node:events";
import { ConnectionError } from "slonik";
import { errorMessage } from "../base/errors.ts";
import { DatabaseServers } from "./database-servers.ts";
import { answered, type DriverClient, type DriverFactory } from "./driver-client.ts";
import { NamedStatements } from "./named-statements.ts";
import { READ_ONLY, sqlState } from "./store-error.ts";

type Subscribe = (event: "destroy", listener: () => void) => unknown;

/** A connection, with a function that removes it from the pool once it is unused. */
interface SteadyClient {
  client: DriverClient;
  retire(): void;
}

/**
 * A slonik driver over pg that copes with failing networks and moving primaries. Without it the
 * pool loses a slot for ever when a connection breaks during a query, waits for ever on a
 * connection that leads nowhere, leaves queued callers waiting when no connection can be made, and
 * keeps using a server that has become a standby.
 *
 * @param addresses one for each server
 */
export function steadyDriver(addresses: readonly string[], silenceTimeout: number): DriverFactory {
  return async (settings) => {
    const servers = new DatabaseServers(addresses, settings);
    await servers.start();
    const open = new Set<SteadyClient>();
    const statements = new NamedStatements();
    // One read-only answer retires all connections, because a standby also returns stale reads.
    const onReadOnly = (): void => {
      for (const each of [...open]) each.retire();
    };
    const createClient = async (): Promise<DriverClient> => {
      const connected = await servers.connect(silenceTimeout);
      const steady = steadyClient(connected, { silenceTimeout, onReadOnly, statements });
      open.add(steady);
      steady.client.on("destroy", () => open.delete(steady));
      return steady.client;
    };
    return { createClient: () => createClient().catch(stillbornClient) };
  };
}

interface SteadyClientOptions {
  silenceTimeout: number;
  onReadOnly: () => void;
  statements: NamedStatements;
}

/**
 * Asks with a text or a named statement: slonik's driver hands on to pg what it gets, and pg takes
 * either, though slonik's types tell of texts only.
 */
function ask(
  client: DriverClient,
  statement: ReturnType<NamedStatements["of"]>,
  values: Parameters<DriverClient["query"]>[1],
): ReturnType<DriverClient["query"]> {
  return client.query(statement as string, values);
}

/**
 * A client that leaves the pool as soon as its connection is known to be broken, even if it cannot
 * be closed.
 */
function steadyClient(
  client: DriverClient,
  { silenceTimeout, onReadOnly, statements }: SteadyClientOptions,
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
    // Closing a connection that does not answer takes long, and nothing depends on it.
    if (!isSilent) await ended;
  };
  const giveUp = (): void => {
    isSilent = true;
    void destroy();
  };
  const query: DriverClient["query"] = async (text, values) => {
    // Reached, for example, by a transaction's rollback.
    if (isGone) throw new ConnectionError("The connection to the database is broken.");
    const statement = statements.of(text);
    try {
      return await answered(ask(client, statement, values), silenceTimeout, giveUp);
    } catch (error) {
      const state = sqlState(error);
      if (state === READ_ONLY) onReadOnly();
      if (statement === text || !statements.isOutdated(state)) throw error;
      void destroy();
      // Without its cause, whose state would tell of a wrong statement instead of an outage.
      throw new ConnectionError(`A prepared statement is outdated: ${errorMessage(error)}`);
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
 * Replaces a connection that could not be made: its first query rejects with the cause. As it then
 * ends like a connection, the pool continues with the next waiting caller.
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

/** `ends` emits `destroy`; the client emits all other events. */
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
