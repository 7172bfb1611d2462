import { createServer, type Server, type Socket } from "node:net";
import type { ConnectionInjector } from "@grpc/grpc-js";
import { AppError } from "../base/errors.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import { networkOf } from "./network.ts";

export interface ConnectionLimits {
  /** Connections at once, from everywhere. */
  total: number;
  /** Connections at once from one address. */
  perAddress: number;
  /** Connections from one address over which no caller with a key has called yet. */
  strangersPerAddress: number;
  /** Time in which a new connection must bring a call that is let in, milliseconds. */
  strangerMs: number;
  /** Calls refused over one connection, after which it is closed. */
  refusals: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  total: 4_096,
  perAddress: 1_024,
  strangersPerAddress: 32,
  strangerMs: 20_000,
  refusals: 100,
};

/** One connection of a gRPC client. */
export class Connection {
  /** The client's address; of IPv6 the /64 network, which one client has to itself. */
  readonly network: string;
  readonly #socket: Socket;
  readonly #limits: ConnectionLimits;
  readonly #onPassed: () => void;
  #timer: NodeJS.Timeout;
  #refused = 0;
  #isKnown = false;

  /** @param onPassed called when it is no longer one that may be closed for others */
  constructor(socket: Socket, network: string, limits: ConnectionLimits, onPassed: () => void) {
    this.network = network;
    this.#socket = socket;
    this.#limits = limits;
    this.#onPassed = onPassed;
    this.#timer = setTimeout(() => this.close(), limits.strangerMs);
    this.#timer.unref();
  }

  /** A call with a key was let in: from now on the connection may last. */
  know(): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    clearTimeout(this.#timer);
    this.#onPassed();
  }

  /** A call that needs no key was let in: the connection may last a little longer. */
  touch(): void {
    if (!this.#isKnown) this.#timer.refresh();
  }

  /** A call was refused. */
  refuse(): void {
    this.#refused += 1;
    // The answers that are on their way are still sent.
    if (this.#refused === this.#limits.refusals) this.#socket.destroySoon();
  }

  close(): void {
    this.#onPassed();
    this.#socket.destroy();
  }

  /** The connection has ended. */
  ended(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * The connections to a gRPC server, counted in all and per address. A full house makes room for a
 * newcomer by closing the oldest connection over which nobody with a key has called; those with
 * known callers are never closed for others.
 */
export class GrpcConnections implements QueueOwner {
  readonly #name: string;
  readonly #limits: ConnectionLimits;
  readonly #server: Server;
  /** By address and port of the client. */
  readonly #open = new Map<string, Connection>();
  /** Those over which nobody with a key has called, oldest first. */
  readonly #strangers = new Set<Connection>();
  /** The same for each network from which at least one is open. */
  readonly #near = new Map<string, Near>();
  #injector: ConnectionInjector | undefined;
  #refused = 0;

  /** @param name of the queue in metrics */
  constructor(name: string, limits: ConnectionLimits) {
    this.#name = name;
    this.#limits = limits;
    this.#server = createServer({ noDelay: true }, (socket) => this.#take(socket));
  }

  get queues(): readonly QueueFigures[] {
    const [length, limit] = [this.#open.size, this.#limits.total];
    return [{ queue: this.#name, length, limit, refused: this.#refused }];
  }

  /** Listens and hands connections on to gRPC. Returns the port; rejects when it is taken. */
  async listen(host: string, port: number, injector: ConnectionInjector): Promise<number> {
    this.#injector = injector;
    const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error): void =>
        reject(new AppError("unavailable", `Cannot listen on ${address}: ${error.message}`));
      this.#server.once("error", onError);
      this.#server.listen({ host, port }, () => {
        this.#server.off("error", onError);
        // An error of accept() concerns one connection, which its client opens again.
        this.#server.on("error", () => {});
        resolve();
      });
    });
    const bound = this.#server.address();
    return typeof bound === "object" && bound !== null ? bound.port : port;
  }

  /** The connection of a call; undefined when it has ended. */
  of({ remoteAddress, remotePort }: Peer): Connection | undefined {
    return this.#open.get(keyOf({ remoteAddress, remotePort }));
  }

  /** Takes no new connections. */
  stopListening(): void {
    this.#server.close();
  }

  /** Closes all that are left. */
  close(): void {
    for (const connection of this.#open.values()) connection.close();
  }

  #take(socket: Socket): void {
    // Without a listener an error of the socket would end the process.
    socket.on("error", () => {});
    const network = networkOf(socket.remoteAddress ?? "").network;
    if (!this.#makeRoom(network)) {
      this.#refused += 1;
      socket.destroy();
      return;
    }
    this.#add(socket, network);
    this.#injector?.injectConnection(socket);
  }

  #add(socket: Socket, network: string): void {
    const key = keyOf(socket);
    const near = this.#near.get(network) ?? { open: 0, strangers: new Set<Connection>() };
    const forget = (): void => {
      near.strangers.delete(connection);
      this.#strangers.delete(connection);
    };
    const connection: Connection = new Connection(socket, network, this.#limits, forget);
    near.open += 1;
    near.strangers.add(connection);
    this.#near.set(network, near);
    this.#strangers.add(connection);
    this.#open.set(key, connection);
    socket.once("close", () => {
      connection.ended();
      forget();
      near.open -= 1;
      if (near.open === 0) this.#near.delete(network);
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
  }

  /** Whether one more may come from there, after closing a stranger's connection for it if needed. */
  #makeRoom(network: string): boolean {
    const { total, perAddress, strangersPerAddress } = this.#limits;
    const { open = 0, strangers = NOBODY } = this.#near.get(network) ?? {};
    if (strangers.size >= strangersPerAddress || open >= perAddress) return evictOldest(strangers);
    return this.#open.size < total || evictOldest(this.#strangers);
  }
}

/** The connections of one network. */
interface Near {
  open: number;
  /** Oldest first. */
  readonly strangers: Set<Connection>;
}

const NOBODY: ReadonlySet<Connection> = new Set();

/** Closes the first of them; false when there is none. */
function evictOldest(strangers: ReadonlySet<Connection>): boolean {
  const [oldest] = strangers;
  oldest?.close();
  return oldest !== undefined;
}

interface Peer {
  remoteAddress?: string | undefined;
  remotePort?: number | undefined;
}

function keyOf({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress} ${remotePort}`;
}
