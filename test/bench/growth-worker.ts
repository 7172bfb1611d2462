/**
 * Scripted workers in a process of their own: the real gRPC protocol, announced over NATS as real
 * workers are, with answers by sample positions. They recognise nothing.
 */
import { randomUUID } from "node:crypto";
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { createDeferred, withTimeout } from "../../src/base/deferred.ts";
import { silentLog } from "../../src/base/log.ts";
import type {
  DescribeResponse,
  TranscribeRequest,
  TranscribeResponse,
} from "../../src/wire/gen/voice/v1/worker.ts";
import { WorkerServiceService } from "../../src/wire/gen/voice/v1/worker_services.ts";
import { fingerprintOfKey } from "../../src/wire/worker-announcement.ts";
import { Announcer } from "../../workers/announce.ts";
import { WORKER_KEY } from "../support/worker-key.ts";
import { answerParent } from "./answer-parent.ts";
import {
  type Message,
  messagesBetween,
  ScriptedState,
  type StateSize,
  toldTo,
} from "./growth-script.ts";

export type WorkerQuestion =
  | { kind: "start"; natsUrl: string; natsToken: string }
  | { kind: "state"; size: StateSize };

/**
 * In one process. HTTP/2 of Node ends a connection on which more than 33 streams a second are
 * cancelled for long, and thousands of sessions that fall silent together do that to one worker.
 */
const WORKERS = 16;
const CAPACITY = 1_000;
/** A chunk, or a speaker state of a day. */
const MAX_MESSAGE_BYTES = 65 * 1024 * 1024;
const OPENED: Message = {
  $case: "opened",
  value: {
    engine: "scripted",
    engineVersion: "1",
    diarisationModelVersion: "scripted",
    detectedLanguage: "en",
    batches: true,
  },
};

type Call = ServerDuplexStream<TranscribeRequest, TranscribeResponse>;
type Request = NonNullable<TranscribeRequest["message"]>;

const state = new ScriptedState();

/** One reading: answers as soon as the sound is there. */
class ScriptedReading {
  readonly #call: Call;
  #told = 0;
  #heardTo = 0;

  constructor(call: Call, worker: Worker) {
    this.#call = call;
    worker.sessions += 1;
    call.on("data", ({ message }: TranscribeRequest) => message && this.#take(message));
    call.on("error", () => {});
    call.on("end", () => call.end());
    call.on("close", () => {
      worker.sessions -= 1;
    });
  }

  #take(request: Request): void {
    switch (request.$case) {
      case "batch":
        for (const { message } of request.value.requests) if (message) this.#take(message);
        return;
      case "open":
        this.#told = request.value.checkpoint?.position ?? 0;
        this.#heardTo = this.#told;
        return this.#say(OPENED);
      case "chunk":
      case "gap": {
        const { start, length } = request.value;
        return this.#hear(start + length);
      }
      case "finish":
        return this.#say({
          $case: "done",
          value: {
            finalisedTo: this.#heardTo,
            speakers: { segments: [], merges: [], finalPass: true },
          },
        });
      default:
        return;
    }
  }

  #hear(to: number): void {
    if (to <= this.#heardTo) return;
    this.#heardTo = to;
    for (const message of messagesBetween(this.#told, to, state)) this.#say(message);
    this.#told = Math.max(this.#told, toldTo(to));
  }

  #say(message: Message): void {
    this.#call.write({ message });
  }
}

interface Worker {
  id: string;
  /** Readings that are open. */
  sessions: number;
}

async function start(worker: Worker, natsUrl: string, natsToken: string): Promise<void> {
  const address = await listen(worker);
  const common = { capacity: CAPACITY, version: "scripted", engines: ["scripted"] };
  const instance = randomUUID();
  const announcer = new Announcer({
    natsUrl,
    natsLogin: { token: natsToken },
    workerId: worker.id,
    log: silentLog,
    describe: () => ({
      ...common,
      worker_id: worker.id,
      instance,
      address,
      sessions: worker.sessions,
      key_fingerprint: fingerprintOfKey(WORKER_KEY),
      draining: false,
    }),
  });
  announcer.start();
}

async function listen(worker: Worker): Promise<string> {
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  server.addService(WorkerServiceService, {
    transcribe: (call: Call) => void new ScriptedReading(call, worker),
    describe: (_call: unknown, answer: (error: null, response: DescribeResponse) => void) =>
      answer(null, {
        workerId: worker.id,
        version: "scripted",
        capacity: CAPACITY,
        sessions: worker.sessions,
        engines: ["scripted"],
      }),
  });
  const bound = createDeferred<number>();
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error === null) bound.resolve(port);
    else bound.reject(error);
  });
  return `127.0.0.1:${await withTimeout(bound.promise, 10_000, "Binding the gRPC port")}`;
}

answerParent<WorkerQuestion>(async (question) => {
  if (question.kind === "state") {
    state.size = question.size;
    return;
  }
  const { natsUrl, natsToken } = question;
  for (let n = 0; n < WORKERS; n += 1) {
    await start({ id: `scripted-${process.pid}-${n}`, sessions: 0 }, natsUrl, natsToken);
  }
});
