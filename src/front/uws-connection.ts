import type { WebSocket } from "uWebSockets.js";
import type { CloseCode } from "../wire/live-frames.ts";
import type { Connection } from "./live-socket.ts";

const MAX_REASON_BYTES = 120;

/** A uWebSockets.js socket, which must not be touched once it is closed. */
export class UwsConnection<T> implements Connection {
  readonly #socket: WebSocket<T>;
  #open = true;

  constructor(socket: WebSocket<T>) {
    this.#socket = socket;
  }

  send(messages: readonly Uint8Array[]): boolean {
    if (!this.#open) return false;
    let taken = true;
    this.#socket.cork(() => {
      // 2 means that the message was dropped.
      for (const message of messages) taken = this.#socket.send(message, false) !== 2 && taken;
    });
    return taken;
  }

  bufferedBytes(): number {
    return this.#open ? this.#socket.getBufferedAmount() : 0;
  }

  ping(): void {
    if (this.#open) this.#socket.ping();
  }

  close(code: CloseCode, reason: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.#socket.end(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString());
  }

  /** The socket is gone. */
  gone(): void {
    this.#open = false;
  }
}
