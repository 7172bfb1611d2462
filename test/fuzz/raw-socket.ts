import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

export interface RawFrame {
  opcode: number;
  payload: Buffer;
  /** The last of its message; true by default. */
  fin?: boolean;
  /** The three reserved bits. */
  rsv?: number;
  /** False: as a client must not send it. */
  masked?: boolean;
  /** What the header says of the payload's length; the truth by default. */
  claimed?: bigint;
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A frame as bytes of the wire, right or wrong. */
export function encodeFrame(frame: RawFrame): Buffer {
  const { opcode, payload, fin = true, rsv = 0, masked = true } = frame;
  const length = frame.claimed ?? BigInt(payload.length);
  const first = (fin ? 0x80 : 0) | ((rsv & 7) << 4) | (opcode & 15);
  const mark = masked ? 0x80 : 0;
  const head =
    length < 126n
      ? Buffer.from([first, mark | Number(length)])
      : length < 65_536n
        ? Buffer.from([first, mark | 126, Number(length >> 8n), Number(length & 255n)])
        : Buffer.concat([Buffer.from([first, mark | 127]), long(length)]);
  if (!masked) return Buffer.concat([head, payload]);
  const mask = randomBytes(4);
  const hidden = Buffer.from(payload);
  for (let at = 0; at < hidden.length; at += 1) {
    hidden[at] = (payload[at] ?? 0) ^ (mask[at % 4] ?? 0);
  }
  return Buffer.concat([head, mask, hidden]);
}

function long(length: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, length));
  return bytes;
}

/** How an upgrade was refused. */
export interface Refusal {
  status: number;
  headers: Headers;
  body: string;
}

/**
 * A WebSocket client that sends what it is told, right or wrong, and holds what the service sends
 * against RFC 6455.
 */
export class RawSocket {
  readonly #socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #isOpen = false;
  /** Text messages of the service. */
  readonly texts: string[] = [];
  pongs = 0;
  /** Set when the service refused the upgrade. */
  refusal: Refusal | undefined;
  /** Of the service's close frame; 1005 when it has none. */
  closeCode: number | undefined;
  /** The connection is gone. */
  ended = false;
  /** What the service did that RFC 6455 does not allow. */
  problem: string | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (bytes) => this.#take(bytes));
    socket.on("error", () => {});
    socket.on("close", () => {
      this.ended = true;
    });
  }

  static open(url: URL, headers: Readonly<Record<string, string>>): RawSocket {
    const socket = connect(Number(url.port), url.hostname);
    const raw = new RawSocket(socket);
    const lines = Object.entries({ host: url.host, ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    return raw;
  }

  /** The upgrade was answered, or the connection is gone. */
  get isAnswered(): boolean {
    return this.#isOpen || this.refusal !== undefined || this.ended;
  }

  get isOpen(): boolean {
    return this.#isOpen && !this.ended;
  }

  write(bytes: Buffer): void {
    if (!this.ended) this.#socket.write(bytes);
  }

  send(frame: RawFrame): void {
    this.write(encodeFrame(frame));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (!this.#isOpen) this.#readHead();
    if (!this.#isOpen) return;
    while (this.#readFrame()) {
      // Until what is left is no whole frame.
    }
  }

  #readHead(): void {
    const end = this.#bytes.indexOf("\r\n\r\n");
    if (end < 0) return;
    const [first = "", ...lines] = this.#bytes.subarray(0, end).toString("latin1").split("\r\n");
    const status = Number(first.split(" ")[1]);
    if (status === 101) {
      this.#isOpen = true;
      this.#bytes = this.#bytes.subarray(end + 4);
      return;
    }
    const headers = new Headers();
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const length = Number(headers.get("content-length") ?? 0);
    const body = this.#bytes.subarray(end + 4);
    if (body.length >= length) this.refusal = { status, headers, body: body.toString() };
  }

  #readFrame(): boolean {
    const [first = 0, second = 0] = this.#bytes;
    const mark = second & 0x7f;
    const start = mark === 127 ? 10 : mark === 126 ? 4 : 2;
    if (this.#bytes.length < start) return false;
    const length =
      mark === 127
        ? Number(this.#bytes.readBigUInt64BE(2))
        : mark === 126
          ? this.#bytes.readUInt16BE(2)
          : mark;
    if (this.#bytes.length < start + length) return false;
    if ((first & 0xf0) !== 0x80 || (second & 0x80) !== 0) {
      this.problem ??= `a frame begins with ${this.#bytes.subarray(0, 2).toString("hex")}`;
    }
    this.#obey(first & 15, this.#bytes.subarray(start, start + length));
    this.#bytes = this.#bytes.subarray(start + length);
    return true;
  }

  #obey(opcode: number, payload: Buffer): void {
    if (this.closeCode !== undefined) this.problem ??= "a frame came after the close frame";
    if (opcode === OPCODE.text) this.texts.push(payload.toString("utf8"));
    else if (opcode === OPCODE.ping) this.send({ opcode: OPCODE.pong, payload });
    else if (opcode === OPCODE.pong) this.pongs += 1;
    else if (opcode === OPCODE.close) {
      this.closeCode = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
    } else this.problem ??= `a frame has the opcode ${opcode}`;
  }
}
