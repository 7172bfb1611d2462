import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** What came of it: a connection that is cut early brings a part. */
  readonly body: Buffer;
}

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** What becomes of a request: an answer, its connection cut, or silence. */
type Act = Reply | "cut" | "silence";

/** A service on loopback that does with requests and WebSockets what a test tells it. */
export class ScriptedService {
  readonly asked: Asked[] = [];
  /** Of each WebSocket its path and headers. */
  readonly upgrades: IncomingMessage[] = [];
  answer: (asked: Asked) => Act | Promise<Act> = () => ({ status: 404, body: refusal("No.") });
  /** Plays one connection; `number` counts from 1. */
  play: (socket: WebSocket, number: number) => void = (socket) => socket.close(4404);
  /** An upgrade that is refused, by its number. */
  refuse: (number: number) => Reply | undefined = () => undefined;
  readonly #http: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });

  private constructor() {
    this.#http = createServer((request, response) => void this.#take(request, response));
    this.#http.on("upgrade", (request, stream, head) => {
      const number = this.upgrades.push(request);
      const refused = this.refuse(number);
      if (refused !== undefined) {
        const body = JSON.stringify(refused.body ?? {});
        const lines = Object.entries(refused.headers ?? {}).map(([name, to]) => `${name}: ${to}`);
        const first = [`HTTP/1.1 ${refused.status} No`, `Content-Length: ${body.length}`];
        stream.end([...first, ...lines, "Connection: close", "", body].join("\r\n"));
        return;
      }
      this.#sockets.handleUpgrade(request, stream, head, (socket) => {
        // A client that is cut off may answer no close.
        socket.on("error", () => undefined);
        this.play(socket, number);
      });
    });
  }

  static async start(): Promise<ScriptedService> {
    const service = new ScriptedService();
    await new Promise<void>((done) => service.#http.listen(0, "127.0.0.1", done));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.#http.closeAllConnections();
    await new Promise((done) => this.#http.close(done));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    const { method = "", url = "", headers } = request;
    request.on("error", () => undefined);
    for await (const part of request) parts.push(part as Buffer);
    const asked = { method, path: url, headers, body: Buffer.concat(parts) };
    this.asked.push(asked);
    const act = await this.answer(asked);
    if (act === "silence") return;
    if (act === "cut") {
      request.socket.destroy();
      return;
    }
    const type = act.body === undefined ? {} : { "content-type": "application/json" };
    response.writeHead(act.status, { ...type, ...act.headers });
    response.end(act.body === undefined ? undefined : JSON.stringify(act.body));
  }
}

/** An error body of the service. */
export function refusal(message: string): { success: false; message: string } {
  return { success: false, message };
}
