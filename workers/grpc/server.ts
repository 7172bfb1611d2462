import { fileURLToPath } from "node:url";
import { Server, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation } from "grpc-health-check";
import { createDeferred, withTimeout } from "../../src/base/deferred.ts";
import { AppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { longest, type QueueFigures, type QueueOwner } from "../../src/base/queue-metrics.ts";
import { kindsIn, type TlsFiles } from "../../src/wire/certificate-kinds.ts";
import { ModelTurn, ModelTurnRequest } from "../../src/wire/gen/voice/v1/retrieval.ts";
import type { DescribeRequest, DescribeResponse } from "../../src/wire/gen/voice/v1/worker.ts";
import { DEFAULT_CONNECTION_LIMITS, GrpcConnections } from "../../src/wire/grpc-connections.ts";
import { gateOf } from "../../src/wire/grpc-gate.ts";
import { serverCredentials } from "../../src/wire/tls-files.ts";
import { WorkerTokenCheck } from "../../src/wire/worker-token.ts";
import type { ModelTurns } from "../text/model-answers/model-turns.ts";
import type { ModelNotes } from "../text/model-notes/model-notes.ts";
import type { ThreadPool } from "../threads/pool.ts";
import type { TextWork } from "../threads/text-calls.ts";
import type { TextTaskName } from "../threads/text-task.ts";
import { summarise } from "./summarise.ts";
import { type EncodedTextCall, TextCall } from "./text-call.ts";
import {
  MAX_IN_FLIGHT,
  MAX_QUEUED_SAMPLES,
  MAX_WAITING,
  TranscribeCall,
} from "./transcribe-call.ts";
import {
  type EncodedCall,
  graphService,
  retrievalService,
  textService,
  voiceService,
  workerService,
} from "./worker-service.ts";

/** For health checks. */
const NAMES = [
  "",
  ...["Worker", "Text", "Retrieval", "Voice", "Graph"].map((name) => `voice.v1.${name}Service`),
];
/** Of all services of the worker, for reflection. */
const PROTO = "voice/v1/worker_services.proto";
/** Largest message: a chunk of 64 MiB with its envelope. */
const MAX_MESSAGE_BYTES = 65 * 1024 * 1024;
const IDLE_MS = 15 * 60_000;
/** A request of text may be long, but a whole minute is not needed between machines. */
const MESSAGE_MS = 30_000;
/** Longest time of a call of reflection or health. */
const CALL_MS = 300_000;
const OWN_PATHS = new Set(
  [workerService, textService, retrievalService, voiceService, graphService].flatMap((methods) =>
    Object.values(methods).map(({ path }): string => path),
  ),
);
const PROTO_ROOT = fileURLToPath(new URL("../../proto", import.meta.url));

interface WorkerServerOptions {
  workerId: string;
  version: string;
  host: string;
  /** The port to listen on; 0 picks a free one. */
  port: number;
  key: string;
  pool: ThreadPool;
  log: Log;
  /** The address at which others reach it; the one that it listens at when absent. */
  advertise?: string | undefined;
  /** With these it speaks TLS, to main processes of our authority only. */
  tls?: TlsFiles | undefined;
  idleMs?: number;
  /** Longest wait for the first message of a call, milliseconds. */
  messageMs?: number;
  /** Words notes by a language model; absent: all are by rule. */
  notes?: ModelNotes | undefined;
  /** Has a language model take turns at questions; absent: it refuses to. */
  turns?: ModelTurns | undefined;
}

/** A call that has not ended. */
interface OpenCall {
  start(): void;
  fail(error: AppError): void;
}

/** The worker's gRPC server: Transcribe, Describe, work on text, health checks and reflection. */
export class WorkerServer implements QueueOwner {
  readonly #options: WorkerServerOptions;
  readonly #calls = new Set<OpenCall>();
  readonly #transcriptions = new Set<TranscribeCall>();
  readonly #health: HealthImplementation;
  readonly #connections: GrpcConnections;
  readonly #server: Server;
  /** Made when the port is known; before that nobody can call. */
  #tokens: WorkerTokenCheck | undefined;
  #isDraining = false;
  #empty = createDeferred<void>();

  constructor(options: WorkerServerOptions) {
    this.#options = options;
    this.#health = new HealthImplementation(
      Object.fromEntries(NAMES.map((name) => [name, "NOT_SERVING" as const])),
    );
    this.#connections = new GrpcConnections("worker_connections", DEFAULT_CONNECTION_LIMITS);
    const gate = gateOf({
      judge: async ({ metadata, certificateNames }) => {
        checkKind(options.tls, certificateNames);
        if (this.#tokens === undefined) throw new AppError("unavailable", "Not ready yet.");
        await this.#tokens.check(metadata);
        return "known";
      },
      connections: this.#connections,
      messageMs: options.messageMs ?? MESSAGE_MS,
      callMs: CALL_MS,
      own: OWN_PATHS,
    });
    this.#server = new Server({
      interceptors: [gate],
      "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
      "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
      "grpc.keepalive_time_ms": 10_000,
      "grpc.keepalive_timeout_ms": 5_000,
      "grpc.enable_channelz": 0,
    });
    this.#server.addService(workerService, {
      transcribe: (call: EncodedCall) => this.#transcribe(call),
      describe: (
        call: ServerUnaryCall<DescribeRequest, DescribeResponse>,
        answer: sendUnaryData<DescribeResponse>,
      ) => this.#describe(call, answer),
    });
    this.#server.addService(textService, {
      summarise: (call: EncodedTextCall) => this.#text(call, "summarise"),
    });
    this.#server.addService(retrievalService, {
      understand: (call: EncodedTextCall) => this.#text(call, "understand"),
      retrieve: (call: EncodedTextCall) => this.#text(call, "retrieve"),
      takeTurn: (call: EncodedTextCall) => this.#takeTurn(call),
    });
    this.#server.addService(voiceService, {
      compareVoice: (call: EncodedTextCall) => this.#text(call, "compareVoice"),
    });
    this.#server.addService(graphService, {
      extractEntities: (call: EncodedTextCall) => this.#text(call, "extractEntities"),
    });
    this.#health.addToServer(this.#server);
    new ReflectionService(loadSync(PROTO, { includeDirs: [PROTO_ROOT] })).addToServer(this.#server);
  }

  /** Starts the server and returns its port. */
  async start(): Promise<number> {
    const { host, port } = this.#options;
    const injector = this.#server.createConnectionInjector(serverCredentials(this.#options.tls));
    const actual = await this.#connections.listen(host, port, injector);
    const { key, advertise = `${host.includes(":") ? `[${host}]` : host}:${actual}` } =
      this.#options;
    this.#tokens = new WorkerTokenCheck(key, advertise);
    this.#setServing(true);
    return actual;
  }

  /** One audio message may exceed the limit, after which no more is read. */
  get queues(): readonly QueueFigures[] {
    const waiting = [...this.#transcriptions].map((call) => call.waiting);
    return [
      {
        queue: "audio_samples",
        length: longest(waiting.map(({ samples }) => samples)),
        limit: MAX_QUEUED_SAMPLES,
        refused: 0,
      },
      {
        queue: "thread_requests",
        length: longest(waiting.map(({ requests }) => requests)),
        limit: MAX_IN_FLIGHT,
        refused: 0,
      },
      {
        queue: "results",
        length: longest(waiting.map(({ results }) => results)),
        limit: MAX_WAITING,
        refused: 0,
      },
      ...this.#connections.queues,
    ];
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Refuses new streams from now on. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#setServing(false);
    if (this.#calls.size === 0) this.#empty.resolve();
  }

  /** Waits up to `graceMs` milliseconds for open streams, then ends them with UNAVAILABLE. */
  async stop(graceMs: number): Promise<void> {
    this.drain();
    this.#connections.stopListening();
    await withTimeout(this.#empty.promise, graceMs, "Draining").catch(() => {});
    const stopping = new AppError("unavailable", "The worker is stopping. Read on elsewhere.");
    for (const call of [...this.#calls]) call.fail(stopping);
    const down = createDeferred<void>();
    this.#server.tryShutdown(() => down.resolve());
    await withTimeout(down.promise, 1_000, "Closing connections").catch(() => {
      this.#server.forceShutdown();
    });
    this.#connections.close();
  }

  #setServing(serving: boolean): void {
    for (const name of NAMES) {
      this.#health.setStatus(name, serving ? "SERVING" : "NOT_SERVING");
    }
  }

  #transcribe(call: EncodedCall): void {
    const { pool, log, idleMs = IDLE_MS } = this.#options;
    const transcription: TranscribeCall = new TranscribeCall({
      call,
      pool,
      log,
      idleMs,
      onClosed: () => {
        this.#transcriptions.delete(transcription);
        this.#onClosed(transcription);
      },
    });
    this.#transcriptions.add(transcription);
    this.#begin(transcription);
  }

  #text(call: EncodedTextCall, task: TextTaskName): void {
    const { pool, notes } = this.#options;
    this.#work(call, task, (asked) =>
      task === "summarise" ? summarise(asked, pool, notes) : pool.text({ ...asked, task }),
    );
  }

  #takeTurn(call: EncodedTextCall): void {
    const { turns } = this.#options;
    this.#work(call, "takeTurn", (asked) => takeTurn(asked, turns));
  }

  #work(
    call: EncodedTextCall,
    task: string,
    run: (asked: Omit<TextWork, "task">) => Promise<void>,
  ): void {
    const { log } = this.#options;
    const onClosed = (): void => this.#onClosed(work);
    const work: TextCall = new TextCall({ call, task, run, log, onClosed });
    this.#begin(work);
  }

  #begin(call: OpenCall): void {
    this.#calls.add(call);
    if (this.#isDraining) call.fail(new AppError("unavailable", "The worker is stopping."));
    else call.start();
  }

  #onClosed(call: OpenCall): void {
    this.#calls.delete(call);
    if (this.#isDraining && this.#calls.size === 0) this.#empty.resolve();
  }

  #describe(
    _call: ServerUnaryCall<DescribeRequest, DescribeResponse>,
    answer: sendUnaryData<DescribeResponse>,
  ): void {
    const { workerId, version, pool } = this.#options;
    const { capacity, sessions, engines } = pool;
    answer(null, {
      workerId,
      version,
      capacity,
      sessions,
      engines: engines.map(({ name }) => name),
    });
  }
}

/** Throws `forbidden` unless the caller's certificate is that of a main process. */
function checkKind(tls: TlsFiles | undefined, names: string | undefined): void {
  if (tls === undefined || kindsIn(names).includes("main")) return;
  throw new AppError("forbidden", "A worker works for main processes only.");
}

/** Has a language model take one turn at a question. */
async function takeTurn(
  { request, onMessage, signal }: Omit<TextWork, "task">,
  turns: ModelTurns | undefined,
): Promise<void> {
  if (turns === undefined) throw new AppError("bad_request", "This worker has no language model.");
  const turn = await turns.take(decode(request), signal);
  onMessage(ModelTurn.encode(turn).finish());
}

function decode(request: Uint8Array): ModelTurnRequest {
  try {
    return ModelTurnRequest.decode(request);
  } catch (error) {
    throw new AppError("bad_request", "The request is no ModelTurnRequest.", { cause: error });
  }
}
