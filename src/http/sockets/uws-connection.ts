import type { WebSocket } from "uWebSockets.js";

const MAX_REASON_BYTES = 120;
/** Results of uWebSockets.js for a message: 1 is written, 0 waits for the socket, 2 was dropped. */
const TAKEN = 1;
const DROPPED = 2;

/** One text message. */
interface Message {
  bytes: Uint8Array;
}

/** A uWebSockets.js socket, which must not be touched once it is closed. */
export class UwsConnection<T> {
  readonly #socket: WebSocket<T>;
  #open = true;
  /** True when bytes may wait to be written. */
  #behind = false;

  constructor(socket: WebSocket<T>) {
    this.#socket = socket;
  }

  /** Messages in one write; false when one was not taken. */
  send(messages: readonly Message[]): boolean {
    if (!this.#open) return false;
    const [first] = messages;
    if (messages.length > 1 || first === undefined) return this.#sendAll(messages);
    const status = this.#socket.send(first.bytes, false);
    if (status !== TAKEN) this.#behind = true;
    return status !== DROPPED;
  }

  #sendAll(messages: readonly Message[]): boolean {
    let taken = true;
    this.#socket.cork(() => {
      for (const { bytes } of messages) {
        taken = this.#socket.send(bytes, false) !== DROPPED && taken;
      }
    });
    this.#behind = this.#socket.getBufferedAmount() > 0;
    return taken;
  }

  /** Asks the socket only when bytes may wait; for most viewers none ever do. */
  bufferedBytes(): number {
    if (!this.#open || !this.#behind) return 0;
    const bytes = this.#socket.getBufferedAmount();
    this.#behind = bytes > 0;
    return bytes;
  }

  ping(): void {
    if (this.#open) this.#socket.ping();
  }

  /** @param code one of `CLOSE`, or of another protocol where that is spoken */
  close(code: number, reason: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.#socket.end(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString());
  }

  /** The connection was lost. */
  gone(): void {
    this.#open = false;
  }
}
