import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Server as SocketIoServer } from "socket.io";
import { WebSocketServer } from "ws";
import type { FinalResultsFrame } from "../../src/wire/live-frames.ts";
import { startBenchFront } from "./bench-front.ts";

export type BroadcasterName = "ours" | "ws" | "socket.io";

/** A server that sends every frame to everybody who is connected. */
export interface Broadcaster {
  port: number;
  publish(frames: readonly FinalResultsFrame[]): void;
}

export const SESSION = "0190b4c6-0000-7000-8000-000000000001";

export function startBroadcaster(name: BroadcasterName): Promise<Broadcaster> {
  if (name === "ours") return startOurs();
  return name === "ws" ? startWs() : startSocketIo();
}

/** The front with its feed, its subscribers and its checks. */
async function startOurs(): Promise<Broadcaster> {
  const { port, source } = await startBenchFront();
  return { port, publish: (frames) => source.publish(SESSION, frames) };
}

/** As its documentation has a broadcast; the text is made once. */
async function startWs(): Promise<Broadcaster> {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  return {
    port: await listen(server),
    publish(frames) {
      for (const frame of frames) {
        const bytes = Buffer.from(JSON.stringify(frame));
        for (const client of sockets.clients) client.send(bytes, { binary: false });
      }
    },
  };
}

async function startSocketIo(): Promise<Broadcaster> {
  const server = createServer();
  const io = new SocketIoServer(server, { transports: ["websocket"] });
  io.on("connection", (socket) => socket.join(SESSION));
  return {
    port: await listen(server),
    publish(frames) {
      for (const frame of frames) io.to(SESSION).emit("frame", frame);
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4096, resolve));
  return (server.address() as AddressInfo).port;
}
