// `node --import …/routed-sockets.ts`: connections to the ports in TEST_SOCKET_ROUTES, a JSON
// object of port to port, go to the other port. A client of a NATS cluster learns its servers'
// own addresses from them: only so does everything that it says pass the proxies before them.
import { Socket } from "node:net";

const routes = new Map(
  Object.entries(JSON.parse(process.env.TEST_SOCKET_ROUTES ?? "{}") as Record<string, number>).map(
    ([from, to]) => [Number(from), to],
  ),
);

interface Target {
  port?: number | string;
}

/** `connect` takes a port, or an object, or what `net.connect` has made of its arguments. */
function reroute(first: unknown): unknown {
  if (Array.isArray(first)) {
    reroute(first[0]);
    return first;
  }
  if (typeof first === "object" && first !== null) {
    const target = first as Target;
    const other = routes.get(Number(target.port));
    if (other !== undefined) target.port = other;
    return first;
  }
  return routes.get(Number(first)) ?? first;
}

const connect = Socket.prototype.connect as (...args: unknown[]) => Socket;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  return connect.call(this, reroute(args[0]), ...args.slice(1));
} as typeof Socket.prototype.connect;
