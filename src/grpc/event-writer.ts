import type { ServerWritableStream } from "@grpc/grpc-js";
import { createDeferred } from "../base/deferred.ts";
import type { EncodedFrame } from "../live/frames.ts";

interface EventWriterOptions {
  call: Pick<ServerWritableStream<Buffer, Uint8Array>, "write">;
  /** Most bytes in flight at once: these are delivered even when the stream ends. */
  inFlightBytes: number;
}

/** Writes events to a stream as fast as its client reads them; the rest is buffered here. */
export class EventWriter {
  readonly #call: EventWriterOptions["call"];
  readonly #inFlightBytes: number;
  #waiting: EncodedFrame[] = [];
  #waitingBytes = 0;
  #inFlight = 0;
  #closed = false;
  #sentSeq: number | undefined;
  #moved = createDeferred<void>();

  constructor({ call, inFlightBytes }: EventWriterOptions) {
    this.#call = call;
    this.#inFlightBytes = inFlightBytes;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Seq of the newest durable event that was handed to the transport. */
  get sentSeq(): number | undefined {
    return this.#sentSeq;
  }

  write(frames: readonly EncodedFrame[]): void {
    for (const frame of frames) {
      this.#waiting.push(frame);
      this.#waitingBytes += frame.bytes.byteLength;
    }
    this.#pump();
  }

  /** Resolves when at most `bytes` wait, or when the writer is closed. */
  async waitUntilBelow(bytes: number): Promise<void> {
    while (!this.#closed && this.#waitingBytes > bytes) await this.#moved.promise;
  }

  /** Drops all buffered events. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#moved.resolve();
  }

  #pump(): void {
    let taken = 0;
    while (!this.#closed && this.#inFlight < this.#inFlightBytes) {
      const frame = this.#waiting[taken];
      if (frame === undefined) break;
      taken += 1;
      this.#send(frame);
    }
    this.#waiting.splice(0, taken);
  }

  #send({ bytes, seq }: EncodedFrame): void {
    const size = bytes.byteLength;
    this.#waitingBytes -= size;
    this.#inFlight += size;
    if (seq !== undefined) this.#sentSeq = seq;
    this.#call.write(bytes, () => {
      this.#inFlight -= size;
      this.#moved.resolve();
      this.#moved = createDeferred<void>();
      this.#pump();
    });
  }
}
