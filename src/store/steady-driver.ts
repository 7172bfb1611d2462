import { EventEmitter } from "node:events";
import { createPgDriverFactory } from "@slonik/pg-driver";
import { ConnectionError } from "slonik";
import { errorMessage } from "../base/errors.ts";

export type DriverFactory = ReturnType<typeof createPgDriverFactory>;
type Driver = Awaited<ReturnType<DriverFactory>>;
type DriverClient = Awaited<ReturnType<Driver["createClient"]>>;
type Subscribe = (event: "destroy", listener: () => void) => unknown;

/**
 * slonik's driver over pg for networks that fail. By itself the pool loses a place for ever when
 * a connection breaks in the middle of a query, waits for ever on one that leads nowhere, and
 * leaves those who queue for a connection standing when none can be made.
 */
export function steadyDriver(silenceTimeout: number): DriverFactory {
  const create = createPgDriverFactory();
  return async (settings) => {
    const driver = await create(settings);
    return {
      createClient: () =>
        driver.createClient().then(
          (client) => steadyClient(client, silenceTimeout),
          (error: unknown) => stillbornClient(error),
        ),
    };
  };
}

/** Leaves the pool the moment its connection is known to be broken, whatever its end does. */
function steadyClient(client: DriverClient, silenceTimeout: number): DriverClient {
  const ends = new EventEmitter();
  let isGone = false;
  let isSilent = false;
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
  return {
    ...client,
    ...subscriptions(client, ends),
    state: () => (isGone ? "DESTROYED" : client.state()),
    destroy,
    query: async (text, values) => {
      // A transaction's rollback, for example.
      if (isGone) throw new ConnectionError("The connection to the database is broken.");
      return answered(client.query(text, values), silenceTimeout, giveUp);
    },
  };
}

/** Settles as `answer` does; after `ms` of silence calls `giveUp` and rejects. */
function answered<T>(answer: Promise<T>, ms: number, giveUp: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      giveUp();
      reject(new ConnectionError(`The database did not answer within ${ms} ms.`));
    }, ms);
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(timer));
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
