import type { TranscribeRequest } from "../wire/gen/voice/v1/worker.ts";

/** What one batch holds at most; larger ones are no faster. */
const MAX_REQUESTS = 64;
const MAX_BYTES = 256 * 1024;

/** Where requests go; false when it is full until it drains. */
interface RequestSink {
  write(request: TranscribeRequest): boolean;
  readonly writableNeedDrain: boolean;
}

/**
 * Writes the requests of one turn of the event loop together, for a message costs by itself far
 * more than its bytes. The first after a rest goes at once: one by itself waits for nothing.
 */
export class RequestBatcher {
  readonly #sink: RequestSink;
  #waiting: TranscribeRequest[] = [];
  #bytes = 0;
  #turn: NodeJS.Immediate | undefined;

  constructor(sink: RequestSink) {
    this.#sink = sink;
  }

  /** False when the sink is full. The request was taken either way. */
  write(request: TranscribeRequest): boolean {
    if (this.#turn === undefined) {
      this.#turn = setImmediate(() => this.#turnOver());
      return this.#sink.write(request);
    }
    this.#waiting.push(request);
    this.#bytes += sizeOf(request);
    if (this.#waiting.length >= MAX_REQUESTS || this.#bytes >= MAX_BYTES) return this.flush();
    return !this.#sink.writableNeedDrain;
  }

  /** Writes what waits now. */
  flush(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return !this.#sink.writableNeedDrain;
    const requests = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    if (requests.length === 1) return this.#sink.write(first);
    return this.#sink.write({ message: { $case: "batch", value: { requests } } });
  }

  /** Drops what waits. */
  close(): void {
    clearImmediate(this.#turn);
    this.#waiting = [];
    this.#bytes = 0;
  }

  /** As long as each turn brings more, none of it goes by itself. */
  #turnOver(): void {
    const isBusy = this.#waiting.length > 0;
    this.#turn = isBusy ? setImmediate(() => this.#turnOver()) : undefined;
    this.flush();
  }
}

function sizeOf({ message }: TranscribeRequest): number {
  return message?.$case === "chunk" ? message.value.data.byteLength : 0;
}
