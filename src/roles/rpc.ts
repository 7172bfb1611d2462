import { listenOn } from "../base/listening.ts";
import { createErasure } from "../conversations/erasure/feature.ts";
import { createQuestions } from "../conversations/questions/feature.ts";
import { PostgresDeviceSessions } from "../conversations/recording/device-sessions-store.ts";
import type { AudioStreams } from "../conversations/recording/stream-routes.ts";
import { SessionListStore } from "../conversations/sessions/list-store.ts";
import { SessionStore } from "../conversations/sessions/store.ts";
import { SegmentStore } from "../conversations/transcript/segments-store.ts";
import { DEFAULT_RPC_LIMITS, type RpcLimits } from "../grpc/call-admission.ts";
import { RpcServer } from "../grpc/server.ts";
import { SessionService } from "../grpc/session-service.ts";
import type { Figure } from "../http/operations.ts";
import { DeviceStore } from "../tenancy/devices/store.ts";
import { WorkspaceStore } from "../tenancy/workspaces/store.ts";
import { WorkshopStore } from "../tenancy/workspaces/workshops-store.ts";
import { serverCredentials } from "../wire/tls-files.ts";
import { createAuthenticator } from "./accounts.ts";
import { erasureEffects } from "./erasure.ts";
import { createLiveSource, createViewerPolicy } from "./live.ts";
import { createRetriever, questionModelOf } from "./queries.ts";
import { type AppContext, featureContext } from "./shared.ts";

interface RpcRole {
  port: number;
  figures: Figure[];
}

/** Starts the gRPC server for other services, which runs in every process. */
export async function startRpc(context: AppContext, streams: AudioStreams): Promise<RpcRole> {
  const { config, runtime, log, stack, shared, queues } = context;
  const { pool, keys } = shared;
  const features = featureContext(context);
  const authenticator = createAuthenticator(features, keys.ring);
  const directory = new SessionStore(pool);
  const { questions } = createQuestions(features, {
    directory,
    workspaces: new WorkspaceStore(pool),
    retriever: createRetriever(context),
    model: questionModelOf(context),
  });
  const { engines, notifier, ceilings, others } = features;
  const starting = {
    ...{ directory, engines, notifier, devices: new DeviceStore(pool) },
    sessions: new PostgresDeviceSessions(pool, others, undefined, ceilings),
    workshops: new WorkshopStore(pool),
  };
  const { sessions: eraser } = createErasure(features, { directory, ...erasureEffects(shared) });
  const service = new SessionService({
    ports: {
      ...{ authenticator, directory, starting, eraser, list: new SessionListStore(pool) },
      segments: new SegmentStore(pool),
      questions,
      source: createLiveSource(shared),
      policy: createViewerPolicy(authenticator, directory),
      revocations: shared.revocations,
      streams,
      cursorKey: keys.cursorKey,
    },
    limits: scaledLimits(config.rateLimitFactor),
    runtime,
    log,
  });
  queues.add(service);
  const server = new RpcServer(service);
  queues.add(server);
  const credentials = serverCredentials(config.rpcTls);
  const port = await listenOn("GRPC_SESSIONS_PORT", config.grpcPort, (wanted) =>
    server.start(config.rpcHost, wanted, credentials),
  );
  stack.push("gRPC server", () => server.stop());
  return { port, figures: figuresOf(service) };
}

function scaledLimits(factor: number): RpcLimits {
  const scale = factor === 0 ? 1_000_000 : factor;
  const { read, query, newKeys, ...rest } = DEFAULT_RPC_LIMITS;
  const scaled = ({ perMinute, burst }: RpcLimits["read"]) => {
    return { perMinute: perMinute * scale, burst: burst * scale };
  };
  return { ...rest, read: scaled(read), query: scaled(query), newKeys: scaled(newKeys) };
}

function figuresOf(service: SessionService): Figure[] {
  return [
    {
      name: "voice_rpc_watches_too_slow_total",
      help: "Watches ended because their client read too slowly, since the start",
      kind: "counter",
      read: () => service.figures.watchesTooSlow,
    },
    {
      name: "voice_rpc_calls_total",
      help: "Calls of other services let in, since the start",
      kind: "counter",
      read: () => service.figures.calls,
    },
  ];
}
