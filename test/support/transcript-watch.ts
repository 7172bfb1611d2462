import type { ClientReadableStream, ServiceError } from "@grpc/grpc-js";
import type {
  SessionServiceClient,
  TranscriptEvent,
  WatchTranscriptRequest,
} from "../../src/wire/gen/voice/v1/sessions.ts";
import { type Failure, failureOf, withKey } from "./grpc-fixture.ts";
import { until } from "./until.ts";

const PATIENT_MS = 60_000;

/** A client of WatchTranscript that keeps what it got. */
export class TranscriptWatch {
  readonly events: TranscriptEvent[] = [];
  readonly stream: ClientReadableStream<TranscriptEvent>;
  failure: Failure | undefined;
  ended = false;

  constructor(
    client: SessionServiceClient,
    secret: string | undefined,
    request: Partial<WatchTranscriptRequest>,
    options: { deadline?: number } = {},
  ) {
    const whole = { sessionId: "", durableOnly: false, ...request };
    this.stream = client.watchTranscript(whole, withKey(secret), options);
    this.stream.on("data", (event: TranscriptEvent) => this.events.push(event));
    this.stream.on("error", (error: ServiceError) => {
      this.failure = failureOf(error);
    });
    this.stream.on("end", () => {
      this.ended = true;
    });
  }

  /** Of the durable events that came. */
  get seqs(): number[] {
    return this.events.flatMap(({ seq }) => seq ?? []);
  }

  get kinds(): string[] {
    return this.events.map(({ event }) => event?.$case ?? "");
  }

  get lastSeq(): number {
    return this.seqs.at(-1) ?? 0;
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    await until(() => condition() || this.failure !== undefined, what, PATIENT_MS);
    if (!condition()) throw new Error(`${what}: ended with ${JSON.stringify(this.failure)}`);
  }

  /** The status that it ended with. */
  async end(): Promise<Failure> {
    await until(() => this.failure !== undefined, "the end of a watch", PATIENT_MS);
    if (this.failure === undefined) throw new Error("It did not end.");
    return this.failure;
  }

  cancel(): void {
    this.stream.cancel();
  }
}
