import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

const SECOND = 16_000;

/** One connection, as the server sees it. */
export interface StreamedConnection {
  url: URL;
  key: string | undefined;
  /** Samples that came. */
  samples: number;
  /** Text messages of the client, by type. */
  types: string[];
  send(message: object | string): void;
  /** Ends the connection as a broken network does. */
  cut(): void;
}

/** What a server does; each may be replaced by a test. */
interface Behaviour {
  /** Called after every block of sound. */
  onSound?(connection: StreamedConnection): void;
  onFinalize?(connection: StreamedConnection): void;
  /** A status with which the upgrade is refused. */
  refuse?(count: number): number | undefined;
}

/** A Results message in the shape of the published examples, of [from, to) in samples. */
export function results(
  [from, to]: readonly [number, number],
  text: string,
  { isFinal = true, speechFinal = false, fromFinalize = false } = {},
) {
  const [start, end] = [from / SECOND, to / SECOND];
  const parts = text === "" ? [] : text.split(" ");
  const share = (end - start) / Math.max(1, parts.length);
  const words = parts.map((part, at) => ({
    word: part.toLowerCase().replaceAll(/[.,?]/g, ""),
    start: start + at * share,
    end: start + (at + 0.9) * share,
    confidence: 0.97,
    punctuated_word: part,
  }));
  return {
    type: "Results",
    channel_index: [0, 1],
    duration: end - start,
    start,
    is_final: isFinal,
    speech_final: speechFinal,
    channel: { alternatives: [{ transcript: text, confidence: 0.97, words }] },
    metadata: { request_id: "8c8ebea9-dbec-45fa-a035-e4632cb05b5f" },
    from_finalize: fromFinalize,
  };
}

/** A server that speaks Deepgram's streaming protocol, with the faults that a test orders. */
export class StreamingServer {
  readonly connections: StreamedConnection[] = [];
  behaviour: Behaviour = {};
  readonly #server: WebSocketServer;
  #asked = 0;

  private constructor() {
    this.#server = new WebSocketServer({
      port: 0,
      host: "127.0.0.1",
      verifyClient: (_info, done) => {
        this.#asked += 1;
        const status = this.behaviour.refuse?.(this.#asked);
        done(status === undefined, status ?? 200);
      },
    });
    this.#server.on("connection", (socket, request) => this.#serve(socket, request));
  }

  static async start(): Promise<StreamingServer> {
    const server = new StreamingServer();
    await new Promise((done) => server.#server.once("listening", done));
    return server;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/listen`;
  }

  /** How often somebody tried to connect. */
  get asked(): number {
    return this.#asked;
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    await new Promise((done) => this.#server.close(done));
  }

  #serve(socket: WebSocket, request: IncomingMessage): void {
    const connection: StreamedConnection = {
      url: new URL(request.url ?? "", "ws://server"),
      key: request.headers.authorization,
      samples: 0,
      types: [],
      send: (message) =>
        socket.send(typeof message === "string" ? message : JSON.stringify(message)),
      cut: () => socket.terminate(),
    };
    this.connections.push(connection);
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) {
        connection.samples += data.length / 2;
        return this.behaviour.onSound?.(connection);
      }
      const { type } = JSON.parse(data.toString()) as { type: string };
      connection.types.push(type);
      if (type === "Finalize") this.behaviour.onFinalize?.(connection);
      if (type !== "CloseStream") return;
      connection.send({ type: "Metadata", request_id: "8c8ebea9", duration: 0, channels: 1 });
      socket.close();
    });
  }
}
