import { connect, type Socket } from "node:net";
import type { PlayedDevice, PlayOptions } from "./heartbeat-tally.ts";

/** A device with one connection that it keeps: sends when told, times the answer. */
export class HttpDevice implements PlayedDevice {
  readonly #request: Buffer;
  readonly #options: PlayOptions;
  #socket: Socket | undefined;
  #sentAt = 0;

  constructor(options: PlayOptions) {
    this.#options = options;
    const { id, key, host, port, telemetry } = options;
    const body = JSON.stringify(telemetry);
    this.#request = Buffer.from(
      `POST /api/devices/${id}/heartbeat HTTP/1.1\r\nHost: ${host}:${port}\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  }

  beat(now: number): void {
    const { tally } = this.#options;
    if (this.#sentAt !== 0) {
      tally.skipped += 1;
      return;
    }
    this.#sentAt = now;
    tally.sent += 1;
    this.#open().write(this.#request);
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    if (this.#socket !== undefined) return this.#socket;
    const { host, port } = this.#options;
    const socket = connect({ host, port, noDelay: true });
    socket.on("data", (data) => this.#answered(data));
    socket.on("error", () => {});
    socket.on("close", () => this.#broken());
    this.#socket = socket;
    return socket;
  }

  /** An answer fits one packet; its head is all that is looked at. */
  #answered(data: Buffer): void {
    if (this.#sentAt === 0) return;
    const { tally } = this.#options;
    if (data.subarray(0, 12).toString("latin1") === "HTTP/1.1 200") {
      tally.answered(performance.now() - this.#sentAt);
    } else tally.failed += 1;
    this.#sentAt = 0;
  }

  #broken(): void {
    this.#socket = undefined;
    if (this.#sentAt !== 0) this.#options.tally.failed += 1;
    this.#sentAt = 0;
  }
}
