import { randomUUID } from "node:crypto";
import { totalmem } from "node:os";
import { systemClock } from "../src/base/clock.ts";
import { AppError } from "../src/base/errors.ts";
import { inAddress } from "../src/base/listening.ts";
import type { Log } from "../src/base/log.ts";
import { OpsServer } from "../src/base/ops-server.ts";
import { QueueMetrics, type QueueOwner } from "../src/base/queue-metrics.ts";
import { Stack } from "../src/base/stack.ts";
import { fingerprintOfKey } from "../src/wire/worker-announcement.ts";
import { Announcer } from "./announce.ts";
import { WorkerServer } from "./grpc/server.ts";
import { groundInThread } from "./grpc/summarise.ts";
import { InferencePool } from "./inference/inference-pool.ts";
import { LanguageModel } from "./language-model/language-model.ts";
import { opsSource, type WorkerStatus } from "./ops-source.ts";
import type { WorkerSettings } from "./settings.ts";
import type { EngineSettings } from "./speech/engine-schemas.ts";
import { DEFAULT_ENGINES } from "./speech/engine-settings.ts";
import { tryEngines } from "./speech/sherpa/model-trial.ts";
import type { GroundRequest } from "./text/grounding/ground-task.ts";
import { ModelTurns } from "./text/model-answers/model-turns.ts";
import { ModelNotes } from "./text/model-notes/model-notes.ts";
import { ThreadPool } from "./threads/pool.ts";

const GRACE_MS = 5_000;
const STOP_PART_MS = 7_000;
const MEMORY_SHARE = 0.8;

interface WorkerOptions {
  settings: WorkerSettings;
  /** File that each thread runs. */
  entry: URL;
  version: string;
  log: Log;
  /** After so long without a sign of life a thread is replaced, milliseconds; five seconds unless given. */
  silenceMs?: number;
}

interface RunningWorker {
  /** The address at which other processes reach it. */
  readonly address: string;
  /** The address of its metrics, if it has an operations port. */
  readonly opsUrl?: string;
  /** Ends open streams with UNAVAILABLE after a short grace period. */
  stop(): Promise<void>;
}

/** Most bytes that the process may use: the container's limit where there is one. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

/**
 * Starts threads, gRPC and announcements, in that order. When one fails, those started before are
 * stopped.
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { settings, version, entry, log, silenceMs } = options;
  const parts = new Stack(log);
  const tried = await tryEngines(settings.engines);
  if (tried?.usable.length === 0) {
    throw new AppError("unavailable", tried.missing.map(({ reason }) => reason).join(" "));
  }
  const inference = await startInference(tried?.usable ?? DEFAULT_ENGINES, settings, log, parts);
  let announcer: Announcer | undefined;
  const pool = new ThreadPool({
    threads: settings.threads,
    sessionsPerThread: settings.sessionsPerThread,
    entry,
    ...(inference === undefined ? {} : { connect: () => inference.connect() }),
    ...(tried === undefined ? {} : { engines: tried.usable, unusable: tried.missing }),
    clock: systemClock,
    log,
    ...(silenceMs !== undefined && { silenceMs }),
    maxResidentBytes: memoryLimit() * MEMORY_SHARE,
    onLoad: () => announcer?.changed(),
  });
  try {
    await pool.start();
    parts.push("threads", () => pool.stop());
    for (const { name, reason } of pool.missing) {
      log.error({ engine: name, reason }, "a configured speech engine cannot be used");
    }
    const { workerId, host, port, advertise, key, tls } = settings;
    const model = startModel(settings, log, parts, () => announcer?.changed());
    const identity = { workerId, version, host, port, advertise, key, tls };
    const server = new WorkerServer({ ...identity, pool, log, ...(model && worksOf(model, pool)) });
    // Started before gRPC and so stopped after it, to report the stop while calls are ending.
    const opsPort = await startOps(
      settings,
      parts,
      [pool, server, ...(inference ? [inference] : []), ...(model ? [model] : [])],
      {
        version,
        isDraining: () => server.isDraining,
        sessions: () => ({ held: pool.sessions, capacity: pool.capacity }),
        missing: () => pool.missing,
        isAnnounced: () => announcer?.isConnected === true,
        model,
      },
    );
    const bound = await server.start();
    parts.push("grpc", () => server.stop(GRACE_MS));
    const address = settings.advertise ?? `${inAddress(host)}:${bound}`;
    announcer = createAnnouncer({
      ...{ settings, version, log, address, pool, server, model, inference },
    });
    announcer?.start();
    return {
      address,
      ...(opsPort === undefined
        ? {}
        : { opsUrl: `http://${inAddress(settings.opsHost)}:${opsPort}` }),
      async stop() {
        server.drain();
        await announcer?.stop();
        await parts.stop(STOP_PART_MS);
      },
    };
  } catch (error) {
    await parts.stop(STOP_PART_MS);
    throw error;
  }
}

/** The threads that run the networks for voices, and of the recogniser if it is one of the engines. */
async function startInference(
  engines: readonly EngineSettings[],
  settings: WorkerSettings,
  log: Log,
  parts: Stack,
): Promise<InferencePool | undefined> {
  if (settings.inferenceThreads === 0) return undefined;
  const inference = new InferencePool({
    threads: settings.inferenceThreads,
    reads: engines.some(({ kind }) => kind === "moonshine-tiny-en"),
    ...(settings.networks && { networks: settings.networks }),
    onLost: (reason) => log.error({ error: reason }, "inference thread lost"),
  });
  await inference.start().catch((error: unknown) => {
    inference.stop();
    throw error;
  });
  const { provider, reason } = inference.networks ?? {};
  if (reason !== undefined) log.warn({ provider }, reason);
  parts.push("inference threads", async () => inference.stop());
  return inference;
}

/** What the language model does. */
function worksOf(model: LanguageModel, pool: ThreadPool) {
  const given = {
    model,
    ground: (request: GroundRequest, signal: AbortSignal) => groundInThread(pool, request, signal),
  };
  return { notes: new ModelNotes(given), turns: new ModelTurns(given) };
}

/** The language model, of which is known from now on whether it answers; undefined where none is named. */
function startModel(
  { model: settings }: WorkerSettings,
  log: Log,
  parts: Stack,
  onChange: () => void,
): LanguageModel | undefined {
  if (settings === undefined) return undefined;
  const model = new LanguageModel({ settings, log, onChange });
  model.start();
  parts.push("language model", () => model.stop());
  return model;
}

/** Starts the operations port; undefined when none is configured. */
async function startOps(
  { opsHost, opsPort }: WorkerSettings,
  parts: Stack,
  owners: readonly QueueOwner[],
  status: WorkerStatus,
): Promise<number | undefined> {
  if (opsPort === undefined) return undefined;
  const queues = new QueueMetrics();
  for (const owner of owners) queues.add(owner);
  const ops = new OpsServer(opsSource(queues, status));
  const port = await ops.start(opsHost, opsPort);
  parts.push("operations port", () => ops.stop());
  return port;
}

function createAnnouncer(options: {
  settings: WorkerSettings;
  version: string;
  log: Log;
  address: string;
  pool: ThreadPool;
  server: WorkerServer;
  model: LanguageModel | undefined;
  inference: InferencePool | undefined;
}): Announcer | undefined {
  const { settings, version, log, address, pool, server, model, inference } = options;
  const { natsUrl, natsLogin, tls, workerId, key } = settings;
  if (natsUrl === undefined) {
    log.warn({}, "NATS_URL is not set: nobody will find this worker by itself");
    return undefined;
  }
  const instance = randomUUID();
  return new Announcer({
    natsUrl,
    natsLogin: { ...natsLogin, tls },
    workerId,
    log,
    describe: () => ({
      worker_id: workerId,
      instance,
      address,
      capacity: pool.capacity,
      sessions: pool.sessions,
      version,
      engines: pool.engines.map(({ name }) => name),
      speech: [...pool.engines],
      ...(pool.missing.length === 0 ? {} : { missing: [...pool.missing] }),
      ...(model === undefined ? {} : { language_model: model.status }),
      ...(inference?.networks && { networks: inference.networks }),
      key_fingerprint: fingerprintOfKey(key),
      draining: server.isDraining,
    }),
  });
}
