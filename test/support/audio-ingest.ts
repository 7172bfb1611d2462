import { type ClientDuplexStream, type ServiceError, status } from "@grpc/grpc-js";
import type {
  IngestAudioRequest,
  IngestAudioResponse,
  IngestConfigure,
  SessionServiceClient,
} from "../../src/wire/gen/voice/v1/sessions.ts";
import { type Failure, failureOf, withKey } from "./grpc-fixture.ts";
import { until } from "./until.ts";

const PATIENT_MS = 60_000;

/** A client of IngestAudio. */
export class AudioIngest {
  readonly stream: ClientDuplexStream<IngestAudioRequest, IngestAudioResponse>;
  /** Byte from which to send; undefined until Begin. */
  begin: number | undefined;
  readonly acks: number[] = [];
  failure: Failure | undefined;
  /** The call ended with OK. */
  ended = false;

  constructor(client: SessionServiceClient, secret: string | undefined) {
    this.stream = client.ingestAudio(withKey(secret));
    this.stream.on("data", ({ message }: IngestAudioResponse) => {
      if (message?.$case === "begin") this.begin = message.value.audioOffsetBytes;
      if (message?.$case === "ack") this.acks.push(message.value.audioOffsetBytes);
    });
    this.stream.on("error", (error: ServiceError) => {
      this.failure = failureOf(error);
    });
    this.stream.on("status", ({ code }) => {
      this.ended = code === status.OK;
    });
  }

  configure(sessionId: string, configure: Partial<IngestConfigure> = {}): this {
    const value: IngestConfigure = {
      sessionId,
      encoding: "pcm_s16le",
      sampleRate: 16_000,
      channels: 1,
      framing: "",
      finalsOnly: false,
      oldestOffsetBytes: 0,
      ...configure,
    };
    this.stream.write({ message: { $case: "configure", value } });
    return this;
  }

  audio(value: Buffer): void {
    this.stream.write({ message: { $case: "audio", value } });
  }

  /** The byte from which to send. */
  async begun(): Promise<number> {
    await this.#until(() => this.begin !== undefined, "Begin");
    return this.begin ?? 0;
  }

  async acknowledged(offset: number): Promise<void> {
    await this.#until(() => (this.acks.at(-1) ?? 0) >= offset, `ack of ${offset}`);
  }

  /** Says that this was all; resolves when it is stored. */
  async finish(): Promise<void> {
    this.stream.end();
    await this.#until(() => this.ended, "the end");
  }

  /** The status that it ended with. */
  async end(): Promise<Failure> {
    await until(() => this.failure !== undefined, "a failure", PATIENT_MS);
    if (this.failure === undefined) throw new Error("It did not fail.");
    return this.failure;
  }

  async #until(condition: () => boolean, what: string): Promise<void> {
    await until(() => condition() || this.failure !== undefined, what, PATIENT_MS);
    if (!condition()) throw new Error(`${what}: ended with ${JSON.stringify(this.failure)}`);
  }
}
