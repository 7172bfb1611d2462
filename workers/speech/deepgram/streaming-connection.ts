import { WebSocket } from "ws";
import { parseMessage, type ServerMessage } from "./results-message.ts";

/** The server closes a stream to which nothing came for 10 s. */
const KEEP_ALIVE_MS = 4_000;
const OPEN_MS = 10_000;
/** Time that the server has to close after CloseStream, milliseconds. */
const CLOSE_MS = 2_000;
const MOST_MESSAGE_BYTES = 1024 * 1024;

interface ConnectionEvents {
  onMessage(message: Exclude<ServerMessage, { kind: "error" }>): void;
  /** Called once; `isRefused` when the server will not take us however often we ask. */
  onLost(reason: string, isRefused: boolean): void;
}

interface ConnectionOptions extends ConnectionEvents {
  url: URL;
  key: string | undefined;
}

/**
 * A client's connection in Deepgram's streaming protocol: sound in binary frames, Finalize,
 * KeepAlive while nothing is said, and CloseStream at the end. What is sent before it is open waits.
 */
export class StreamingConnection {
  readonly #socket: WebSocket;
  readonly #events: ConnectionEvents;
  readonly #keepAlive: NodeJS.Timeout;
  #waiting: (Buffer | string)[] = [];
  #isQuiet = true;
  #isOver = false;

  constructor({ url, key, ...events }: ConnectionOptions) {
    this.#events = events;
    this.#socket = new WebSocket(url, {
      headers: key === undefined ? {} : { authorization: `Token ${key}` },
      handshakeTimeout: OPEN_MS,
      maxPayload: MOST_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    this.#socket.on("open", () => {
      for (const each of this.#waiting.splice(0)) this.#socket.send(each);
    });
    this.#socket.on("message", (data, isBinary) => {
      if (!isBinary) this.#hear(data.toString());
    });
    this.#socket.on("unexpected-response", (_request, response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429;
      const reason =
        status === 401 || status === 403
          ? "its server refuses our key"
          : `its server answers ${status}`;
      this.#lost(reason, isRefused);
    });
    this.#socket.on("error", (error: Error & { code?: string }) =>
      this.#lost(error.code ?? "the connection broke off", false),
    );
    this.#socket.on("close", () => this.#lost("the connection was closed", false));
    this.#keepAlive = setInterval(() => {
      if (this.#isQuiet) this.#send(JSON.stringify({ type: "KeepAlive" }));
      this.#isQuiet = true;
    }, KEEP_ALIVE_MS);
    this.#keepAlive.unref();
  }

  /** Sends sound: 16-bit samples, little-endian. */
  sound(pcm: Int16Array): void {
    this.#isQuiet = false;
    this.#send(Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength));
  }

  /** Asks for the final words of all that was sent. */
  finalize(): void {
    this.#isQuiet = false;
    this.#send(JSON.stringify({ type: "Finalize" }));
  }

  /** Leaves the server; nothing is told any more. */
  close(): void {
    if (this.#isOver) return;
    const isOpen = this.#socket.readyState === WebSocket.OPEN;
    if (isOpen) this.#socket.send(JSON.stringify({ type: "CloseStream" }));
    this.#end();
    if (!isOpen) return this.#socket.terminate();
    const limit = setTimeout(() => this.#socket.terminate(), CLOSE_MS);
    this.#socket.once("close", () => clearTimeout(limit));
  }

  #hear(text: string): void {
    if (this.#isOver) return;
    const message = parseMessage(text);
    if (message === undefined) return this.#lost("its server says what is none of it", false);
    if (message.kind === "error") return this.#lost("its server tells of an error", false);
    this.#events.onMessage(message);
  }

  #send(data: Buffer | string): void {
    if (this.#isOver) return;
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(data);
    else this.#waiting.push(data);
  }

  #lost(reason: string, isRefused: boolean): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket.terminate();
    this.#events.onLost(reason, isRefused);
  }

  #end(): void {
    this.#isOver = true;
    this.#waiting = [];
    clearInterval(this.#keepAlive);
  }
}
