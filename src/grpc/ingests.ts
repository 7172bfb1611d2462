import type { RevocationFeed } from "../access/revocations.ts";
import { toAppError } from "../base/errors.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { Runtime } from "../base/runtime.ts";
import { type CallAdmission, failStream } from "./call-admission.ts";
import { IngestCall, type IngestCallOptions, type IngestStream } from "./ingest-call.ts";
import { OpenStreams } from "./open-streams.ts";
import { logFailure } from "./unary-call.ts";

interface IngestsOptions extends Omit<IngestCallOptions, "call" | "principal" | "clock"> {
  admission: CallAdmission;
  revocations: Pick<RevocationFeed, "subscribe">;
  runtime: Runtime;
}

/** All open IngestAudio streams. */
export class Ingests implements QueueOwner {
  readonly #options: IngestsOptions;
  readonly #ingests: OpenStreams;

  constructor(options: IngestsOptions) {
    this.#options = options;
    const { limits, revocations, runtime } = options;
    this.#ingests = new OpenStreams({
      what: "streams of audio",
      queue: "rpc_ingests",
      total: limits.ingests,
      perKey: limits.ingestsPerKey,
      revocations,
      runtime,
    });
  }

  get queues(): readonly QueueFigures[] {
    return this.#ingests.queues;
  }

  get size(): number {
    return this.#ingests.size;
  }

  /** Handles a call of grpc-js; ends the call itself in every case. */
  open(call: IngestStream): void {
    this.#admit(call).catch((thrown: unknown) => {
      const error = toAppError(thrown);
      logFailure(this.#options.log, call.getPath(), error);
      failStream(call, error);
      call.resume();
    });
  }

  async #admit(call: IngestStream): Promise<void> {
    const { admission, runtime: clock, ...rest } = this.#options;
    const principal = admission.admit(call.metadata, "read");
    this.#ingests.checkRoom(principal);
    if (call.cancelled) return;
    const ingest = new IngestCall({ ...rest, clock, call, principal });
    this.#ingests.add(ingest);
    call.once("cancelled", () => {
      this.#ingests.remove(ingest);
      ingest.closed();
    });
    ingest.start();
  }

  /** Ends all streams, so that clients reconnect elsewhere. */
  stop(): void {
    this.#ingests.stop();
  }
}
