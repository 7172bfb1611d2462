import {
  type ChannelCredentials,
  type ClientReadableStream,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import { AppError } from "../base/errors.ts";
import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import { systemRuntime } from "../base/runtime.ts";
import type { TlsFiles } from "../wire/certificate-kinds.ts";
import type { DescribeResponse } from "../wire/gen/voice/v1/worker.ts";
import { WorkerServiceClient } from "../wire/gen/voice/v1/worker_services.ts";
import { fromGrpcFailure } from "../wire/grpc-status.ts";
import { channelCredentials } from "../wire/tls-files.ts";
import { WorkerTokens } from "../wire/worker-token.ts";
import { GrpcTranscription, MAX_AHEAD_SAMPLES } from "./grpc-transcription.ts";
import type { TranscriptionStream } from "./transcription-stream.ts";

/** Largest message: a chunk of 64 MiB with its envelope. */
const MAX_MESSAGE_BYTES = 65 * 1024 * 1024;

const CHANNEL_OPTIONS = {
  // A worker that hangs as a whole is detected within 8 s; its own watch detects hanging threads.
  "grpc.keepalive_time_ms": 4_000,
  "grpc.keepalive_timeout_ms": 4_000,
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  "grpc.initial_reconnect_backoff_ms": 200,
  "grpc.max_reconnect_backoff_ms": 2_000,
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  // Without this, channels to the same target would share connections, even after close().
  "grpc.use_local_subchannel_pool": 1,
  // Certificates of workers say what they are, not where; an address is no name in TLS.
  "grpc.ssl_target_name_override": "worker",
};

interface WorkerClientOptions {
  /** With these it speaks TLS, to workers of our authority only. */
  tls?: TlsFiles | undefined;
  /** The clock that all main processes share, Unix milliseconds. */
  now?: () => number;
  /** Time that a worker has to answer Open, milliseconds. */
  openMs?: number;
  /** Longest time without a message from a worker that has audio to read, milliseconds. */
  stallMs?: number;
  /** Time after which a channel without streams is closed, milliseconds. */
  idleMs?: number;
}

interface CallSettings {
  /** The worker's service key, when it has one. */
  key?: string | undefined;
}

interface TranscriptionSettings extends CallSettings {
  /**
   * Called when the connection broke; resolves to whether the worker's process ended. Without it
   * the process counts as ended.
   */
  isGone?: () => Promise<boolean>;
}

/** A server-streaming method, as generated code describes it. */
export interface StreamingMethod<Q, A> {
  path: string;
  requestSerialize(request: Q): Buffer;
  responseDeserialize(bytes: Buffer): A;
}

interface StreamSettings<A> extends CallSettings {
  deadlineMs: number;
  signal: AbortSignal;
  /** Receives every answer, in order. */
  onMessage(message: A): void;
  /** Called once the worker has begun with it, before the first answer. */
  onBegun?(): void;
}

interface Channel {
  readonly client: WorkerServiceClient;
  streams: number;
  idle: NodeJS.Timeout | undefined;
}

/** gRPC client of the workers, with one channel per address, which is closed when unused. */
export class WorkerClient implements QueueOwner {
  readonly #channels = new Map<string, Channel>();
  readonly #open = new Set<Pick<TranscriptionStream, "cancel">>();
  readonly #transcriptions = new Set<GrpcTranscription>();
  readonly #credentials: ChannelCredentials;
  /** By key; a process has one. */
  readonly #tokens = new Map<string, WorkerTokens>();
  readonly #now: () => number;
  readonly #openMs: number;
  readonly #stallMs: number;
  readonly #idleMs: number;
  #isClosed = false;

  constructor(options: WorkerClientOptions = {}) {
    this.#now = options.now ?? Date.now;
    this.#credentials = channelCredentials(options.tls, "worker");
    this.#openMs = options.openMs ?? 40_000;
    this.#stallMs = options.stallMs ?? 120_000;
    this.#idleMs = options.idleMs ?? 60_000;
  }

  /** One chunk may exceed the limit, after which no more is sent. */
  get queues(): readonly QueueFigures[] {
    const length = longest([...this.#transcriptions].map(({ ahead }) => ahead));
    return [{ queue: "audio_ahead_samples", length, limit: MAX_AHEAD_SAMPLES, refused: 0 }];
  }

  /**
   * Opens a transcription. Does not throw when the worker is unavailable: the stream's `onEnd`
   * reports it.
   */
  openTranscription(address: string, settings: TranscriptionSettings = {}): TranscriptionStream {
    const channel = this.#hold(address);
    const stream: GrpcTranscription = new GrpcTranscription({
      call: channel.client.transcribe(this.#metadata(address, settings)),
      runtime: systemRuntime,
      openMs: this.#openMs,
      stallMs: this.#stallMs,
      isGone: settings.isGone ?? (async () => true),
      onClosed: () => {
        this.#open.delete(stream);
        this.#transcriptions.delete(stream);
        this.#release(address, channel);
      },
    });
    this.#open.add(stream);
    this.#transcriptions.add(stream);
    return stream;
  }

  /**
   * Resolves when the worker has ended the stream successfully. Rejects with an AppError: the
   * worker's own, `timeout` at the deadline, `unavailable` when the worker cannot be reached or
   * `signal` aborts.
   */
  async stream<Q, A>(
    address: string,
    method: StreamingMethod<Q, A>,
    request: Q,
    { key, deadlineMs, signal, onMessage, onBegun = () => {} }: StreamSettings<A>,
  ): Promise<void> {
    if (signal.aborted) throw new AppError("unavailable", "The call was given up.");
    const channel = this.#hold(address);
    const { path, requestSerialize, responseDeserialize } = method;
    const call = channel.client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      this.#metadata(address, { key }),
      { deadline: Date.now() + deadlineMs },
    );
    const cancel = (): void => call.cancel();
    const open = { cancel };
    this.#open.add(open);
    signal.addEventListener("abort", cancel, { once: true });
    call.on("metadata", onBegun);
    try {
      await endOf(call, onMessage);
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#open.delete(open);
      this.#release(address, channel);
    }
  }

  /** Describes the worker. Rejects with an AppError, `timeout` after `ms`. */
  describe(address: string, ms: number, settings: CallSettings = {}): Promise<DescribeResponse> {
    const channel = this.#hold(address);
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + ms;
      const metadata = this.#metadata(address, settings);
      channel.client.describe({}, metadata, { deadline }, (error, response) => {
        this.#release(address, channel);
        if (error === null) resolve(response);
        else reject(fromGrpcFailure(error));
      });
    });
  }

  /** The key itself is not sent: a call carries a token made with it. */
  #metadata(address: string, { key }: CallSettings): Metadata {
    if (key === undefined) return new Metadata();
    let tokens = this.#tokens.get(key);
    if (tokens === undefined) {
      tokens = new WorkerTokens(key, this.#now);
      this.#tokens.set(key, tokens);
    }
    return tokens.metadata(address);
  }

  /** Cancels every stream and closes every channel. */
  close(): void {
    this.#isClosed = true;
    for (const stream of [...this.#open]) stream.cancel();
    for (const [address, channel] of [...this.#channels]) this.#drop(address, channel);
  }

  #hold(address: string): Channel {
    if (this.#isClosed) throw new AppError("unavailable", "The worker client is closed.");
    let channel = this.#channels.get(address);
    if (channel === undefined) {
      const client = new WorkerServiceClient(address, this.#credentials, CHANNEL_OPTIONS);
      channel = { client, streams: 0, idle: undefined };
      this.#channels.set(address, channel);
    }
    clearTimeout(channel.idle);
    channel.streams += 1;
    return channel;
  }

  #release(address: string, channel: Channel): void {
    channel.streams -= 1;
    if (channel.streams > 0) return;
    channel.idle = setTimeout(() => this.#drop(address, channel), this.#idleMs);
    channel.idle.unref();
  }

  #drop(address: string, channel: Channel): void {
    clearTimeout(channel.idle);
    if (this.#channels.get(address) === channel) this.#channels.delete(address);
    channel.client.close();
  }
}

function endOf<A>(call: ClientReadableStream<A>, onMessage: (message: A) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call.on("data", onMessage);
    call.on("error", (error: ServiceError) => reject(fromGrpcFailure(error)));
    call.on("end", () => resolve());
  });
}
