import type { Server } from "@grpc/grpc-js";
import type { Authenticator } from "../access/authenticator.ts";
import type { Principal } from "../access/principal.ts";
import type { RevocationFeed } from "../access/revocations.ts";
import { AppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { Runtime } from "../base/runtime.ts";
import {
  askSession,
  askWorkspace,
  MAX_QUESTION,
  type QuestionOptions,
} from "../conversations/questions/ask.ts";
import { requireAskableWorkspace } from "../conversations/questions/askable.ts";
import type { AudioStreams } from "../conversations/recording/stream-routes.ts";
import { requireSession } from "../conversations/sessions/access.ts";
import { readSegmentPage } from "../conversations/transcript/segments.ts";
import type { SegmentStore } from "../conversations/transcript/segments-store.ts";
import type { LiveSource, ViewerPolicy } from "../live/live-source.ts";
import {
  AskRequest,
  type AskResponse,
  GetSessionRequest,
  ListSegmentsRequest,
  type ListSegmentsResponse,
  type Session,
  SessionServiceService,
} from "../wire/gen/voice/v1/sessions.ts";
import type { CallHead } from "../wire/grpc-gate.ts";
import { CallAdmission, type RpcLimits } from "./call-admission.ts";
import type { IngestStream } from "./ingest-call.ts";
import { Ingests } from "./ingests.ts";
import { toAnswerMessage, toSegmentMessage, toSessionMessage } from "./messages.ts";
import { type SessionCallPorts, SessionCalls } from "./session-calls.ts";
import { type UnaryMethod, unaryCall } from "./unary-call.ts";
import type { WatchStream } from "./watch-call.ts";
import { Watches } from "./watches.ts";

interface SessionServiceStores extends SessionCallPorts {
  authenticator: Authenticator;
  segments: SegmentStore;
  questions: QuestionOptions;
  source: LiveSource;
  policy: ViewerPolicy;
  revocations: Pick<RevocationFeed, "subscribe">;
  streams: AudioStreams;
}

interface SessionServiceOptions {
  ports: SessionServiceStores;
  limits: RpcLimits;
  runtime: Runtime;
  log: Log;
}

const DEFAULT_PAGE = 50;
const MAX_PAGE = 500;

function asBytes<T>(bytes: T): T {
  return bytes;
}

/**
 * Requests are decoded by their handlers, which tell what is no request with an error code; events
 * of a watch are encoded once for all.
 */
const { createSession, getSession, listSessions, stopSession, deleteSession } =
  SessionServiceService;
const { listSegments, watchTranscript, ask, ingestAudio } = SessionServiceService;
const DEFINITION = {
  createSession: { ...createSession, requestDeserialize: asBytes<Buffer> },
  listSessions: { ...listSessions, requestDeserialize: asBytes<Buffer> },
  stopSession: { ...stopSession, requestDeserialize: asBytes<Buffer> },
  deleteSession: { ...deleteSession, requestDeserialize: asBytes<Buffer> },
  getSession: { ...getSession, requestDeserialize: asBytes<Buffer> },
  listSegments: { ...listSegments, requestDeserialize: asBytes<Buffer> },
  watchTranscript: {
    ...watchTranscript,
    requestDeserialize: asBytes<Buffer>,
    responseSerialize: asBytes<Buffer>,
  },
  ask: { ...ask, requestDeserialize: asBytes<Buffer> },
  ingestAudio: { ...ingestAudio, requestDeserialize: asBytes<Buffer> },
} as const;

/** voice.v1.SessionService: the same rights and the same records as REST, over gRPC. */
export class SessionService implements QueueOwner {
  readonly name = "voice.v1.SessionService";
  readonly proto = "voice/v1/sessions.proto";
  readonly #options: SessionServiceOptions;
  readonly #admission: CallAdmission;
  readonly #watches: Watches;
  readonly #ingests: Ingests;

  constructor(options: SessionServiceOptions) {
    this.#options = options;
    const { ports, limits, runtime, log } = options;
    const { authenticator, source, policy, revocations, streams, directory } = ports;
    this.#admission = new CallAdmission({ authenticator, limits, clock: runtime });
    const admission = this.#admission;
    this.#watches = new Watches({ admission, source, policy, revocations, limits, runtime, log });
    this.#ingests = new Ingests({
      admission,
      streams,
      directory,
      authenticator,
      source,
      revocations,
      limits,
      runtime,
      log,
    });
  }

  get queues(): readonly QueueFigures[] {
    return [...this.#watches.queues, ...this.#ingests.queues];
  }

  get figures(): { watches: number; watchesTooSlow: number; ingests: number; calls: number } {
    const { size: watches, tooSlow: watchesTooSlow } = this.#watches;
    return {
      watches,
      watchesTooSlow,
      ingests: this.#ingests.size,
      calls: this.#admission.admitted,
    };
  }

  get limits(): Pick<RpcLimits, "messageMs" | "callMs"> {
    return this.#options.limits;
  }

  /** Its methods, as `/service/method`. */
  get paths(): ReadonlySet<string> {
    return new Set(Object.values(DEFINITION).map(({ path }) => path));
  }

  /** Judges a call by its metadata. */
  judge(head: CallHead): Promise<"known" | "open"> {
    return this.#admission.judge(head);
  }

  addTo(server: Server): void {
    const { log, ports, limits } = this.#options;
    const calls = new SessionCalls(ports, limits.readMs);
    server.addService(DEFINITION, {
      createSession: unaryCall(this.#admission, log, calls.create()),
      listSessions: unaryCall(this.#admission, log, calls.list()),
      stopSession: unaryCall(this.#admission, log, calls.stop()),
      deleteSession: unaryCall(this.#admission, log, calls.delete()),
      getSession: unaryCall(this.#admission, log, this.#getSession()),
      listSegments: unaryCall(this.#admission, log, this.#listSegments()),
      ask: unaryCall(this.#admission, log, this.#ask()),
      watchTranscript: (call: WatchStream) => this.#watches.open(call),
      ingestAudio: (call: IngestStream) => this.#ingests.open(call),
    });
  }

  stop(): void {
    this.#admission.close();
    this.#watches.stop();
    this.#ingests.stop();
  }

  #getSession(): UnaryMethod<GetSessionRequest, Session> {
    const { directory } = this.#options.ports;
    return {
      decode: GetSessionRequest.decode,
      budget: "read",
      defaultMs: this.#options.limits.readMs,
      async handle({ sessionId }, { principal }) {
        await requireSession(directory, principal, sessionId, "session.read");
        const session = await directory.get(sessionId);
        if (session === undefined) {
          throw new AppError("not_found", "There is no session with this id.");
        }
        return toSessionMessage(session);
      },
    };
  }

  #listSegments(): UnaryMethod<ListSegmentsRequest, ListSegmentsResponse> {
    const { ports, limits } = this.#options;
    return {
      decode: ListSegmentsRequest.decode,
      budget: "read",
      defaultMs: limits.readMs,
      async handle({ sessionId, pageSize, pageToken, words }, { principal }) {
        await requireSession(ports.directory, principal, sessionId, "session.content");
        const limit = pageSize === 0 ? DEFAULT_PAGE : pageSize;
        if (limit > MAX_PAGE) {
          throw new AppError("invalid_parameter", `page_size must be at most ${MAX_PAGE}.`);
        }
        const cursor = pageToken === "" ? undefined : pageToken;
        const { page, next } = await readSegmentPage(ports, sessionId, { limit, cursor });
        const segments = page.map((segment) => toSegmentMessage(segment, words));
        return { segments, nextPageToken: next ?? "" };
      },
    };
  }

  #ask(): UnaryMethod<AskRequest, AskResponse> {
    const { ports, limits } = this.#options;
    return {
      decode: AskRequest.decode,
      budget: "query",
      defaultMs: limits.askMs,
      handle: async (request, caller) => toAnswerMessage(await answer(ports, request, caller)),
    };
  }
}

/** Answers a question with the same steps as the two query routes of REST. */
async function answer(
  { directory, questions }: SessionServiceStores,
  { about, query }: AskRequest,
  { principal, signal }: { principal: Principal; signal: AbortSignal },
) {
  if (about?.$case === "sessionId") {
    await requireSession(directory, principal, about.value, "session.query");
    return askSession(questions, about.value, { query: question(query), principal, signal });
  }
  if (about?.$case === "workspaceId") {
    const workspace = await requireAskableWorkspace(questions, principal, about.value);
    return askWorkspace(questions, workspace, { query: question(query), principal, signal });
  }
  throw new AppError("invalid_body", "Say what the question is about: a session or a workspace.");
}

function question(query: string): string {
  if (/\S/.test(query) && query.length <= MAX_QUESTION) return query;
  throw new AppError("invalid_body", `query must have 1 to ${MAX_QUESTION} characters.`);
}
