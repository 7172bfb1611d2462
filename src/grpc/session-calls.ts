import { actorOf } from "../access/audit-entry.ts";
import { mayListSessions } from "../access/policy.ts";
import type { Principal } from "../access/principal.ts";
import { AppError } from "../base/errors.ts";
import type { SessionErasure } from "../conversations/erasure/session-erasure.ts";
import {
  beginSession,
  newSessionBody,
  type SessionStartOptions,
} from "../conversations/recording/start.ts";
import { requireSession } from "../conversations/sessions/access.ts";
import type { SessionFilter, SessionListStore } from "../conversations/sessions/list-store.ts";
import type { SessionStore } from "../conversations/sessions/store.ts";
import { encodeCursor, toPositionRequest } from "../rest/page.ts";
import { SchemaChecks } from "../rest/schema-check.ts";
import {
  CreateSessionRequest,
  DeleteSessionRequest,
  type DeleteSessionResponse,
  ListSessionsRequest,
  type ListSessionsResponse,
  type Session,
  StopSessionRequest,
} from "../wire/gen/voice/v1/sessions.ts";
import { toSessionMessage } from "./messages.ts";
import type { UnaryMethod } from "./unary-call.ts";

export interface SessionCallPorts {
  directory: SessionStore;
  starting: SessionStartOptions;
  list: SessionListStore;
  eraser: Pick<SessionErasure, "erase">;
  /** Signs page tokens. */
  cursorKey: Uint8Array;
}

const MAX_PAGE = 100;
const STATUSES = ["recording", "processing", "completed", "failed"] as const;

/** Begins, lists, stops and deletes sessions: what REST does at /sessions, with the same rights. */
export class SessionCalls {
  readonly #ports: SessionCallPorts;
  readonly #readMs: number;
  readonly #check = new SchemaChecks().body(newSessionBody, "The request");

  constructor(ports: SessionCallPorts, readMs: number) {
    this.#ports = ports;
    this.#readMs = readMs;
  }

  create(): UnaryMethod<CreateSessionRequest, Session> {
    return this.#method(CreateSessionRequest.decode, async (request, principal) => {
      const body = bodyOf(request);
      const problem = this.#check(body);
      if (problem !== undefined) throw new AppError("invalid_body", problem);
      return toSessionMessage(await beginSession(this.#ports.starting, principal, body));
    });
  }

  list(): UnaryMethod<ListSessionsRequest, ListSessionsResponse> {
    return this.#method(ListSessionsRequest.decode, async (request, principal) => {
      if (mayListSessions(principal) !== "allow") {
        throw new AppError("forbidden", "This key lacks the scope sessions:read.");
      }
      const { list, cursorKey } = this.#ports;
      const { pageSize, pageToken } = request;
      if (pageSize > MAX_PAGE) {
        throw new AppError("invalid_parameter", `page_size must be at most ${MAX_PAGE}.`);
      }
      const filter = filterOf(request);
      const name = `sessions over gRPC\u0000${JSON.stringify(filter)}`;
      const cursor = pageToken === "" ? {} : { cursor: pageToken };
      const page = toPositionRequest(cursorKey, name, { limit: pageSize || 50, ...cursor });
      const { items, next } = await list.list(principal, { filter, sort: undefined, ...page });
      const nextPageToken = next === undefined ? "" : encodeCursor(cursorKey, name, next);
      return { sessions: items.map(toSessionMessage), nextPageToken };
    });
  }

  stop(): UnaryMethod<StopSessionRequest, Session> {
    return this.#method(StopSessionRequest.decode, async ({ sessionId }, principal) => {
      const { directory, starting } = this.#ports;
      await requireSession(directory, principal, sessionId, "session.stop");
      const { sessions, notifier } = starting;
      const order = { deviceId: undefined, sessionId, lastSequence: undefined };
      notifier.notify((await sessions.stop(order)).outbox);
      const session = await directory.get(sessionId);
      if (session === undefined) throw gone();
      return toSessionMessage(session);
    });
  }

  delete(): UnaryMethod<DeleteSessionRequest, DeleteSessionResponse> {
    return this.#method(DeleteSessionRequest.decode, async ({ sessionId }, principal) => {
      const { directory, eraser } = this.#ports;
      await requireSession(directory, principal, sessionId, "session.delete");
      const by = actorOf(principal);
      const receipt = await eraser.erase(sessionId, "session_deleted_by_owner", by);
      if (receipt === undefined) throw gone();
      return { receiptId: receipt.id, audioErased: receipt.audioErased };
    });
  }

  #method<Q, A>(
    decode: (bytes: Buffer) => Q,
    handle: (request: Q, principal: Principal) => Promise<A>,
  ): UnaryMethod<Q, A> {
    return {
      ...{ decode, budget: "read", defaultMs: this.#readMs },
      handle: (request, { principal }) => handle(request, principal),
    };
  }
}

function gone(): AppError {
  return new AppError("not_found", "There is no session with this id.");
}

/** As REST has it: members that are absent are left out. */
function bodyOf(request: CreateSessionRequest): Parameters<typeof beginSession>[2] {
  const { title, vocabulary, metadata, tags } = request;
  const optional = {
    language: request.language,
    engine: request.engine,
    external_id: request.externalId,
    visibility: request.visibility as "private" | undefined,
    speaker_channels: request.speakerChannels,
    workshop_id: request.workshopId,
  };
  const told = Object.entries(optional).filter(([, value]) => value !== undefined);
  return { title, vocabulary, metadata, tags, ...Object.fromEntries(told) };
}

function filterOf(request: ListSessionsRequest): SessionFilter {
  const { tags, metadata, status: wanted } = request;
  const status = STATUSES.find((each) => each === wanted);
  if (wanted !== undefined && status === undefined) {
    throw new AppError("invalid_parameter", `status must be one of ${STATUSES.join(", ")}.`);
  }
  return {
    ...{ status, externalId: request.externalId, language: request.language },
    tags: tags.length > 0 ? tags : undefined,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    ...{ from: request.startedFromMs, to: request.startedToMs },
  };
}
