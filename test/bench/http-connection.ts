import { connect, type Socket } from "node:net";

const shared = Buffer.alloc(256 * 1024);
const SUCCESS = 0x32;

/** A keep-alive connection with one request under way, as cheap as can be: answers are not decoded. */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #next: () => Buffer;
  readonly #delays: number[];
  #sentAt = 0;
  #rest = 0;
  #running = true;
  #ended: (() => void) | undefined;
  #failure: Error | undefined;

  /** Sends what `next` gives as soon as it is open, and again after every answer. */
  constructor(port: number, next: () => Buffer, delays: number[]) {
    this.#next = next;
    this.#delays = delays;
    this.#socket = connect({
      host: "127.0.0.1",
      port,
      noDelay: true,
      onread: {
        buffer: shared,
        callback: (bytes) => {
          this.#read(bytes);
          return true;
        },
      },
    });
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.once("connect", () => this.#send());
  }

  /** Resolves when the last answer is in; rejects when one was not 2xx. */
  async end(): Promise<void> {
    this.#running = false;
    if (this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#ended = resolve;
      });
    }
    this.#socket.destroy();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #send(): void {
    this.#sentAt = performance.now();
    this.#socket.write(this.#next());
  }

  #read(bytes: number): void {
    if (this.#rest > 0) {
      this.#rest -= bytes;
      if (this.#rest <= 0) this.#answered();
      return;
    }
    const head = shared.subarray(0, bytes);
    const end = head.indexOf("\r\n\r\n");
    if (head[9] !== SUCCESS || end < 0) {
      return this.#fail(new Error(head.toString("utf8", 0, 600)));
    }
    const text = head.toString("latin1", 0, end + 2);
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    this.#rest = end + 4 + Number(length) - bytes;
    if (this.#rest <= 0) this.#answered();
  }

  #answered(): void {
    this.#delays.push(performance.now() - this.#sentAt);
    if (this.#running) this.#send();
    else this.#ended?.();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#ended?.();
  }
}
