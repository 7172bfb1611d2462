import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { ConnectionInjector } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import {
  type Connection,
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  GrpcConnections,
} from "../../../src/wire/grpc-connections.ts";
import { until } from "../../support/until.ts";

let cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.reverse()) cleanup();
  cleanups = [];
});

/** Connections that nobody calls over, in front of nothing. */
async function open(limits: Partial<ConnectionLimits>) {
  const connections = new GrpcConnections("c", { ...DEFAULT_CONNECTION_LIMITS, ...limits });
  const taken: Connection[] = [];
  const injector: ConnectionInjector = {
    injectConnection: ({ remoteAddress, remotePort }: Socket) => {
      const connection = connections.of({ remoteAddress, remotePort });
      if (connection !== undefined) taken.push(connection);
    },
    drain: () => {},
    destroy: () => {},
  };
  const port = await connections.listen("::", 0, injector);
  cleanups.push(() => {
    connections.stopListening();
    connections.close();
  });
  const from = async (address: string, count = 1): Promise<Socket[]> => {
    const before = taken.length;
    const sockets = Array.from({ length: count }, () => {
      const socket = connect({ port, host: address.replace(/\d+$/, "1"), localAddress: address });
      socket.on("error", () => {});
      socket.resume();
      cleanups.push(() => socket.destroy());
      return socket;
    });
    await Promise.all(
      sockets.map((each) => Promise.race([once(each, "connect"), once(each, "close")])),
    );
    await until(
      () => taken.length - before >= count || sockets.some((each) => each.closed),
      "all to be taken",
    );
    return sockets;
  };
  const held = (): number => connections.queues[0]?.length ?? -1;
  return { connections, taken, from, held };
}

describe("connections to a gRPC server", () => {
  it("keep within the share of an address when many come at the same moment", async () => {
    const { from, held } = await open({ strangersPerAddress: 4 });
    const sockets = await from("127.0.0.1", 4);
    sockets.push(...(await from("127.0.0.1", 40)));
    await until(() => sockets.filter((each) => !each.closed).length <= 4, "the rest to be closed");
    expect(sockets.slice(-4).every((each) => !each.closed)).toBe(true);
    expect(held()).toBe(4);
  });

  it("push out the oldest stranger, of the address first, then of all, and nobody known", async () => {
    const { taken, from, held } = await open({ total: 4, perAddress: 3, strangersPerAddress: 2 });
    const [one] = await from("127.0.0.1");
    taken[0]?.know();
    const [two] = await from("127.0.0.1");
    const [three] = await from("127.0.0.1");
    const [four] = await from("127.0.0.1");
    await until(() => two?.closed === true, "the oldest stranger of the address to go");
    const [five] = await from("127.0.0.2");
    const [six] = await from("127.0.0.3");
    await until(() => three?.closed === true, "the oldest stranger of all to go");
    expect([one, four, five, six].map((each) => each?.closed)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(held()).toBe(4);
  });

  it("refuse whoever comes when all that are open are known, and take others once one ends", async () => {
    const { taken, from, held } = await open({ total: 2 });
    const sockets = await from("127.0.0.1", 2);
    for (const connection of taken) connection.know();
    const [refused] = await from("127.0.0.2");
    await until(() => refused?.closed === true, "the newcomer to be refused");
    sockets[0]?.destroy();
    await until(() => held() === 1, "a place to be free");
    const [late] = await from("127.0.0.2");
    expect([late?.closed, held()]).toEqual([false, 2]);
  });
});
