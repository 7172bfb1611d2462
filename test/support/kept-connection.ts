import { connect, type Socket } from "node:net";
import { until } from "./until.ts";

const CRLF = Buffer.from("\r\n");

export interface RawAnswer {
  status: number;
  /** Lower-case names; repeated headers are joined with a comma. */
  headers: Record<string, string>;
  body: Buffer;
}

/** One connection over which a test sends requests byte by byte and reads the answers off. */
export class KeptConnection {
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);
  closed = false;

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.on("data", (data: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, data]);
    });
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => {
      this.closed = true;
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  /** Writes a head and `count` times the piece, reading nothing meanwhile; throws when it cannot. */
  async writeAll(head: string, count: number, piece: Buffer, chunked: boolean): Promise<void> {
    this.#socket.pause();
    this.#socket.write(head);
    const size = `${piece.length.toString(16)}\r\n`;
    for (let at = 0; at < count; at += 1) {
      const bytes = chunked ? Buffer.concat([Buffer.from(size), piece, CRLF]) : piece;
      await new Promise<void>((resolve, reject) => {
        this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
    }
    if (chunked) this.#socket.write("0\r\n\r\n");
    this.#socket.resume();
  }

  /** Sends a request and reads its answer. */
  ask(method: string, path: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
    this.write(requestText(method, path, headers));
    return this.answer(method);
  }

  /** The next answer, as a client that asked with `method` reads it; throws when the connection ends first. */
  async answer(method: string): Promise<RawAnswer> {
    await until(() => this.closed || this.#bytes.includes("\r\n\r\n"), "an answer");
    const end = this.#bytes.indexOf("\r\n\r\n");
    if (end < 0) throw new Error(`The connection ended before the answer to ${method}.`);
    const [first = "", ...lines] = this.#bytes.subarray(0, end).toString("latin1").split("\r\n");
    const headers = headersOf(lines);
    const status = Number(first.split(" ")[1]);
    const bodiless = method === "HEAD" || status === 204 || status === 304;
    const length = bodiless ? 0 : Number(headers["content-length"] ?? 0);
    const from = end + 4;
    await until(() => this.closed || this.#bytes.length >= from + length, "the answer's body");
    const body = this.#bytes.subarray(from, from + length);
    this.#bytes = this.#bytes.subarray(from + length);
    return { status, headers, body };
  }

  /** Bytes that came and that no answer accounts for. */
  get rest(): string {
    return this.#bytes.toString("latin1");
  }

  end(): void {
    this.#socket.destroy();
  }
}

export function requestText(
  method: string,
  path: string,
  headers: Record<string, string> = {},
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\nHost: a\r\n${lines.join("")}\r\n`;
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}
