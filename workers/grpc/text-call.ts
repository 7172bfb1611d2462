import { Metadata, type ServerWritableStream } from "@grpc/grpc-js";
import { type AppError, toAppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { toGrpcFailure } from "../../src/wire/grpc-status.ts";
import type { TextWork } from "../threads/text-calls.ts";

/** A server-streaming call with encoded messages in both directions. */
export type EncodedTextCall = ServerWritableStream<Buffer, Buffer>;

interface TextCallOptions {
  call: EncodedTextCall;
  /** What is done, for the log. */
  task: string;
  /** Does the work. */
  run(work: Omit<TextWork, "task">): Promise<void>;
  log: Log;
  /** Called once, when the call has released everything. */
  onClosed: () => void;
}

/** One call for work on text: writes answers as the thread sends them. */
export class TextCall {
  readonly #options: TextCallOptions;
  readonly #giveUp = new AbortController();
  #isClosed = false;

  constructor(options: TextCallOptions) {
    this.#options = options;
  }

  start(): void {
    const { call } = this.#options;
    // An expired deadline and a disconnected client both emit `cancelled`.
    for (const event of ["cancelled", "error", "close"] as const) {
      call.on(event, () => this.#close());
    }
    // By its headers the caller knows that work has begun, should this process end.
    call.sendMetadata(new Metadata());
    void this.#run();
  }

  fail(error: AppError): void {
    if (!this.#close()) return;
    const { call, log, task } = this.#options;
    const fields = { code: error.code, error: error.message, task };
    if (error.code === "internal") log.error(fields, "work on text failed");
    else log.info(fields, "work on text ended early");
    call.emit("error", Object.assign(new Error(error.message), toGrpcFailure(error)));
  }

  async #run(): Promise<void> {
    const { call, run } = this.#options;
    const onMessage = (message: Uint8Array): void => {
      if (this.#isClosed) return;
      call.write(Buffer.from(message.buffer, message.byteOffset, message.byteLength));
    };
    try {
      await run({ request: call.request, onMessage, signal: this.#giveUp.signal });
      if (this.#close()) call.end();
    } catch (error) {
      this.fail(toAppError(error));
    }
  }

  /** Returns false when it was closed already. */
  #close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    this.#giveUp.abort();
    this.#options.onClosed();
    return true;
  }
}
