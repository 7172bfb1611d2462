import { join } from "node:path";
import { type ChannelCredentials, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { EndedRightsStore } from "../../src/access/ended-rights-store.ts";
import { SCOPES, type Scope, type UserPrincipal } from "../../src/access/principal.ts";
import { RevocationReader } from "../../src/access/revocation-reader.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { GuestStore } from "../../src/conversations/guests/store.ts";
import type { WorkerRetriever } from "../../src/conversations/questions/worker-retriever.ts";
import {
  ChunkAssembler,
  type LiveAudio,
} from "../../src/conversations/recording/chunk-assembler.ts";
import { PostgresDeviceSessions } from "../../src/conversations/recording/device-sessions-store.ts";
import { PostgresOpenChunks } from "../../src/conversations/recording/open-chunks-store.ts";
import { AudioStreams } from "../../src/conversations/recording/stream-routes.ts";
import { PostgresAudioStreams } from "../../src/conversations/recording/stream-store.ts";
import { SessionListStore } from "../../src/conversations/sessions/list-store.ts";
import { SessionStore } from "../../src/conversations/sessions/store.ts";
import { segmentCursor } from "../../src/conversations/transcript/segments.ts";
import { SegmentStore } from "../../src/conversations/transcript/segments-store.ts";
import { DEFAULT_RPC_LIMITS, type RpcLimits } from "../../src/grpc/call-admission.ts";
import { RpcServer } from "../../src/grpc/server.ts";
import { SessionService } from "../../src/grpc/session-service.ts";
import { LiveLog, RecordedHeartbeat } from "../../src/live/replay-store.ts";
import type { CommandNotifier } from "../../src/postgres/outbox.ts";
import type { Pool } from "../../src/postgres/pool.ts";
import { createViewerPolicy } from "../../src/roles/live.ts";
import { OTHER_TABLES } from "../../src/roles/other-tables.ts";
import { CredentialAuthenticator } from "../../src/tenancy/accounts/credential-authenticator.ts";
import { LoginStore } from "../../src/tenancy/accounts/sign-in-store.ts";
import { type KeyMaterial, loadKeyFolder } from "../../src/tenancy/accounts/signing-keys.ts";
import { Tokens } from "../../src/tenancy/accounts/tokens.ts";
import { PairingStore } from "../../src/tenancy/devices/pairing-store.ts";
import { DeviceStore } from "../../src/tenancy/devices/store.ts";
import { ServiceKeys } from "../../src/tenancy/workspaces/service-keys.ts";
import { ServiceKeyStore } from "../../src/tenancy/workspaces/service-keys-store.ts";
import { WorkshopStore } from "../../src/tenancy/workspaces/workshops-store.ts";
import type { TlsFiles } from "../../src/wire/certificate-kinds.ts";
import { SessionServiceClient } from "../../src/wire/gen/voice/v1/sessions.ts";
import type { ConnectionLimits } from "../../src/wire/grpc-connections.ts";
import type { PublishedFrame } from "../../src/wire/live-frames.ts";
import { MOONSHINE } from "../../src/wire/speech-engines.ts";
import { serverCredentials } from "../../src/wire/tls-files.ts";
import { fragmentLogs } from "./fragment-logs.ts";
import { LocalRevocations } from "./memory/local-revocations.ts";
import { QuestionFixture } from "./question-fixture.ts";
import { NO_MENDING } from "./verified-audio.ts";

/** What begins, lists and deletes sessions; nobody hears of it. */
function managing(pool: Pool, directory: SessionStore) {
  const starting = {
    ...{ directory, devices: new DeviceStore(pool), workshops: new WorkshopStore(pool) },
    ...{ sessions: new PostgresDeviceSessions(pool, OTHER_TABLES), engines: () => [MOONSHINE] },
    notifier: { notify: () => {} } as unknown as CommandNotifier,
  };
  return { starting, list: new SessionListStore(pool), eraser: { erase: async () => undefined } };
}

const cursorKey = new Uint8Array(32).fill(7);
const CHANNEL = { "grpc.use_local_subchannel_pool": 1, "grpc.enable_retries": 0 };
const PATIENT_MS = 60_000;
const READER_MS = 100;

type Listener = (frames: PublishedFrame[]) => void;

export interface GrpcFixtureOptions {
  limits?: Partial<RpcLimits>;
  connections?: Partial<ConnectionLimits>;
  tls?: TlsFiles;
  /** Answers instead of the worker. */
  retriever?: Pick<WorkerRetriever, "plan" | "retrieve">;
}

/** A failed call as a client sees it. */
export interface Failure {
  status: number;
  code: string | undefined;
  details: string;
}

export function failureOf(error: ServiceError): Failure {
  const code = error.metadata?.get("x-error-code")[0]?.toString();
  return { status: error.code, code, details: error.details };
}

/** The gRPC service on a real port over a real database; the bus is in memory. */
export class GrpcFixture {
  readonly query: QuestionFixture;
  readonly liveLog: LiveLog;
  readonly revocations = new LocalRevocations();
  readonly keys: ServiceKeys;
  readonly service: SessionService;
  readonly server: RpcServer;
  readonly streams: AudioStreams;
  /** Streamed audio that the session's actor was told of. */
  readonly heard: LiveAudio[] = [];
  readonly authenticator: CredentialAuthenticator;
  readonly #reader: RevocationReader;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #clients = new Set<SessionServiceClient>();
  address = "";

  private constructor(
    query: QuestionFixture,
    keys: KeyMaterial,
    { limits, connections, retriever }: GrpcFixtureOptions,
  ) {
    this.query = query;
    const { pool } = query.fixture;
    const serviceKeys = new ServiceKeyStore(pool);
    const { revocations } = this;
    this.liveLog = new LiveLog(pool, {
      segmentCursor: (id, position) => segmentCursor(cursorKey, id, position),
    });
    this.keys = new ServiceKeys({ store: serviceKeys, revocations, clock: systemClock });
    this.authenticator = new CredentialAuthenticator({
      tokens: new Tokens(keys.ring, systemClock),
      logins: new LoginStore(pool),
      guests: new GuestStore(pool),
      deviceKeys: new PairingStore(pool),
      serviceKeys,
      revocations,
      clock: systemClock,
    });
    this.#reader = new RevocationReader({
      record: new EndedRightsStore(pool),
      notify: (event) => revocations.publish(event),
      runtime: systemRuntime,
      log: silentLog,
      everyMs: READER_MS,
    });
    const directory = new SessionStore(pool);
    this.streams = this.#createStreams();
    this.service = new SessionService({
      ports: {
        authenticator: this.authenticator,
        directory,
        ...managing(pool, directory),
        segments: new SegmentStore(pool),
        questions: retriever === undefined ? query.ports : { ...query.ports, retriever },
        source: {
          follow: (sessionId, listener) => this.#follow(sessionId, listener),
          replay: (sessionId, fromSeq, limit) => this.liveLog.replay(sessionId, fromSeq, limit),
          snapshot: (sessionId) => this.liveLog.snapshot(sessionId),
          beat: (sessionId) => new RecordedHeartbeat(pool, systemClock).read(sessionId),
        },
        policy: createViewerPolicy(this.authenticator, directory),
        revocations,
        streams: this.streams,
        cursorKey,
      },
      limits: { ...DEFAULT_RPC_LIMITS, ...limits },
      runtime: systemRuntime,
      log: silentLog,
    });
    this.server = new RpcServer(this.service, connections);
  }

  #createStreams(): AudioStreams {
    const { pool, blobs } = this.query.fixture;
    const notifier = { notify: () => {} };
    const openChunks = new PostgresOpenChunks(pool);
    const runtime = systemRuntime;
    const logs = fragmentLogs(blobs);
    return new AudioStreams({
      store: new PostgresAudioStreams(pool),
      logs,
      assembler: new ChunkAssembler({
        ...{ openChunks, blobs, logs, notifier, runtime, mending: NO_MENDING, log: silentLog },
      }),
      live: { publish: (_sessionId, audio) => this.heard.push(audio) },
      backlog: { check: () => {} },
      notices: { taken: () => {}, onTaken: () => () => {} },
      notifier,
      runtime,
      log: silentLog,
    });
  }

  static async open(options: GrpcFixtureOptions = {}): Promise<GrpcFixture> {
    const query = await QuestionFixture.open();
    const keys = await loadKeyFolder(join(query.fixture.folder, "keys"), systemClock);
    const fixture = new GrpcFixture(query, keys, options);
    await fixture.#reader.start();
    const credentials = serverCredentials(options.tls);
    fixture.address = `127.0.0.1:${await fixture.server.start("127.0.0.1", 0, credentials)}`;
    return fixture;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.server.stop();
    await this.streams.stop();
    await this.#reader.stop();
    this.authenticator.stop();
    await this.query.close();
  }

  client(channel: ChannelCredentials = credentials.createInsecure()): SessionServiceClient {
    const client = new SessionServiceClient(this.address, channel, CHANNEL);
    this.#clients.add(client);
    return client;
  }

  async key(owner: UserPrincipal, workspaceId: string, scopes: readonly Scope[] = SCOPES) {
    const wanted = { workspaceId, name: "test", scopes, expiresAt: undefined };
    const { secret, record } = await this.keys.issue(owner, wanted);
    return { secret, record };
  }

  /** What an actor publishes after its turn: everything after `fromSeq`. */
  async publish(sessionId: string, fromSeq: number): Promise<void> {
    this.send(sessionId, await this.liveLog.replay(sessionId, fromSeq, 1_000));
  }

  send(sessionId: string, frames: PublishedFrame[]): void {
    for (const listener of this.#listeners.get(sessionId) ?? []) listener(frames);
  }

  /** Feeds that follow the session. */
  followers(sessionId: string): number {
    return this.#listeners.get(sessionId)?.size ?? 0;
  }

  #follow(sessionId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(sessionId) ?? new Set();
    this.#listeners.set(sessionId, listeners.add(listener));
    return () => listeners.delete(listener);
  }
}

export function withKey(secret: string | undefined): Metadata {
  const metadata = new Metadata();
  if (secret !== undefined) metadata.set("x-api-key", secret);
  return metadata;
}

type Unary<Q, A> = (
  request: Q,
  metadata: Metadata,
  options: { deadline?: number },
  done: (error: ServiceError | null, answer: A) => void,
) => unknown;

/** The answer of a unary method of `client`; rejects with a Failure. `ms` is the call's deadline, if any. */
export function callUnary<Q, A>(
  client: SessionServiceClient,
  method: Unary<Q, A>,
  request: Q,
  secret: string | undefined,
  ms: number | undefined = PATIENT_MS,
): Promise<A> {
  const options = ms === Number.POSITIVE_INFINITY ? {} : { deadline: Date.now() + ms };
  return new Promise((resolve, reject) => {
    method.call(client, request, withKey(secret), options, (error, answer) => {
      if (error === null) resolve(answer);
      else reject(failureOf(error));
    });
  });
}
