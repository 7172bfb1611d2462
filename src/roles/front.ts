import { inAddress } from "../base/listening.ts";
import { SessionStreams } from "../conversations/recording/session-streams.ts";
import type { AudioStreams } from "../conversations/recording/stream-routes.ts";
import { DeviceStreams } from "../conversations/recording/streams.ts";
import { DEFAULT_HTTP_LIMITS, type HttpLimits, withoutShares } from "../http/server/http-limits.ts";
import { DEFAULT_RATE_LIMITS, type RateLimitSettings } from "../http/server/limits.ts";
import type { FrontObserver } from "../http/server/observer.ts";
import { FrontServer } from "../http/server.ts";
import { DEFAULT_LIVE_LIMITS } from "../http/sockets/live-limits.ts";
import { noticeVanishedCallers } from "../http/vanished-callers.ts";
import { CompatChannel } from "../openai-deepgram/live-channel.ts";
import { PostgresIdempotencyStore } from "../postgres/idempotency-store.ts";
import type { OutboxBacklog } from "../postgres/outbox-backlog.ts";
import { CallChannel } from "../telephony/call-channel.ts";
import type { Config } from "./config.ts";
import { createFeatures, rateScale } from "./features.ts";
import { createLiveSource, createViewerPolicy } from "./live.ts";
import type { AppContext } from "./shared.ts";

/** Time to finish running requests and uploads when the process stops, milliseconds. */
const UPLOADS_IN_HAND_MS = 6_000;

/** Takes streamed audio, and limits it by the backlog. */
interface AudioIntake {
  streams: AudioStreams;
  backlog: OutboxBacklog;
}

/** Starts the role that serves REST and the live channel. Returns its port. */
export async function startFront(
  context: AppContext,
  { streams: audioStreams, backlog }: AudioIntake,
  observer: FrontObserver,
): Promise<number> {
  const { config, log, runtime, stack, shared, queues } = context;
  let listening = config.port;
  const publicUrl = () => config.publicUrl ?? `http://${reachable(config.host)}:${listening}`;
  const features = createFeatures(context, { backlog, publicUrl });
  await features.guests.settle(config.guestAccess);
  const { authenticator, directory, heartbeats, liveTickets, routes } = features;
  const common = { directory, streams: audioStreams };
  const streams = {
    devices: new DeviceStreams({ ...features.deviceSessions, ...common, heartbeats }),
    sessions: new SessionStreams(common),
  };
  const calls = {
    ...{ ...features.calls, streams: audioStreams, runtime },
    ...{ twilioToken: config.twilioToken, publicUrl: config.publicUrl },
  };
  const server = new FrontServer({
    streams,
    channels: [
      (common) =>
        new CompatChannel({ ...common, calls: { ...features.compat, streams: audioStreams } }),
      (common) => new CallChannel({ ...common, calls }),
    ],
    routes,
    authenticator,
    live: {
      source: createLiveSource(shared),
      policy: createViewerPolicy(authenticator, directory),
      tickets: liveTickets,
      revocations: shared.revocations,
      limits: DEFAULT_LIVE_LIMITS,
    },
    limits: httpLimits(config),
    rates: scaledRates(config.rateLimitFactor),
    idempotency: {
      store: new PostgresIdempotencyStore(shared.pool),
      secret: shared.keys.pepper,
    },
    allowedOrigins: config.allowedOrigins,
    uploadFolder: shared.blobs.temporaryFolder,
    trustProxy: config.trustProxy,
    observer,
    host: config.host,
    port: config.port,
    log,
    runtime,
  });
  queues.add(server);
  const { port } = await server.start();
  await noticeVanishedCallers(port, log);
  features.storing.runner.start();
  listening = port;
  const drain = async (): Promise<void> => {
    await server.drain(config.drainMs);
    await server.stop();
  };
  stack.push("front", drain, config.drainMs + UPLOADS_IN_HAND_MS);
  return port;
}

/** A host name to which clients can connect. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return inAddress(host);
}

function httpLimits({ uploadBytes, rateLimitFactor }: Config): HttpLimits {
  const limits = { ...DEFAULT_HTTP_LIMITS, uploadBytes };
  return rateLimitFactor === 0 ? withoutShares(limits) : limits;
}

function scaledRates(factor: number): RateLimitSettings {
  const scale = rateScale(factor);
  const entries = Object.entries(DEFAULT_RATE_LIMITS).map(([name, limit]) => [
    name,
    { perMinute: limit.perMinute * scale, burst: limit.burst * scale },
  ]);
  return Object.fromEntries(entries) as RateLimitSettings;
}
