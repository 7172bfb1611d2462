import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { PlayedDevice, PlayOptions } from "./heartbeat-tally.ts";

const PING = 0x89;
const CLOSE = 0x88;
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** A device whose WebSocket is open all the time: a heartbeat is one frame, which has no answer. */
export class SocketDevice implements PlayedDevice {
  readonly #options: PlayOptions;
  readonly #frame: Buffer;
  #socket: Socket | undefined;
  #isOpen = false;

  constructor(options: PlayOptions) {
    this.#options = options;
    this.#frame = maskedText(JSON.stringify({ type: "Heartbeat", ...options.telemetry }));
  }

  beat(): void {
    const { tally } = this.#options;
    if (this.#socket === undefined) this.#connect();
    if (!this.#isOpen) {
      tally.skipped += 1;
      return;
    }
    tally.sent += 1;
    this.#socket?.write(this.#frame);
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): void {
    const { host, port, id, key, tally } = this.#options;
    const socket = connect({ host, port, noDelay: true });
    this.#socket = socket;
    const nonce = randomBytes(16).toString("base64");
    socket.write(
      `GET /api/devices/${id}/stream HTTP/1.1\r\nHost: ${host}:${port}\r\nX-API-Key: ${key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${nonce}\r\n\r\n`,
    );
    socket.on("data", (data) => this.#take(data));
    socket.on("error", () => {});
    socket.on("close", () => {
      tally.failed += 1;
      this.#isOpen = false;
      this.#socket = undefined;
    });
  }

  /** Messages to a device are few and short; each comes in a packet of its own. */
  #take(data: Buffer): void {
    if (!this.#isOpen) {
      this.#isOpen = data.subarray(0, 12).toString("latin1") === "HTTP/1.1 101";
      if (!this.#isOpen) this.#socket?.destroy();
    } else if (data[0] === PING) this.#socket?.write(PONG);
    else if (data[0] === CLOSE) this.#socket?.destroy();
  }
}

/** As clients must; the mask is zero. */
function maskedText(text: string): Buffer {
  const payload = Buffer.from(text);
  const length = payload.byteLength;
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([0x81, ...size, 0, 0, 0, 0]), payload]);
}
