import { clearTextProblems } from "../src/base/clear-text.ts";
import { readInnerTls, readNatsLogin } from "../src/base/inner-settings.ts";
import { type Environment, SettingsReader } from "../src/base/settings.ts";
import type { TlsFiles } from "../src/wire/certificate-kinds.ts";
import type { NatsLogin } from "../src/wire/nats-login.ts";
import { isWorkerAddress } from "../src/wire/worker-announcement.ts";
import { inferenceThreads } from "./inference/inference-pool.ts";
import {
  type NetworkSettings,
  type Provider,
  USUAL_NETWORKS,
} from "./inference/network-settings.ts";
import { type ModelSettings, readModelSettings } from "./language-model/model-settings.ts";
import { readEngines } from "./speech/engine-file.ts";
import type { EngineSettings } from "./speech/engine-schemas.ts";

export interface WorkerSettings {
  workerId: string;
  host: string;
  /** The port to listen on; 0 picks a free one. */
  port: number;
  /** The address that is announced; the bound address when absent. */
  advertise: string | undefined;
  threads: number;
  sessionsPerThread: number;
  natsUrl: string | undefined;
  natsLogin: NatsLogin;
  /** PEM files of this worker; without them its port and NATS are spoken to in clear. */
  tls: TlsFiles | undefined;
  key: string;
  opsHost: string;
  /** The port for metrics; 0 picks a free one, absent means none. */
  opsPort: number | undefined;
  /** Threads that run the networks of the recogniser. */
  inferenceThreads: number;
  /** How the networks are run; one thread of the processor for each run when absent. */
  networks?: NetworkSettings;
  /** The engines of every thread; Moonshine alone when absent. */
  engines?: readonly EngineSettings[] | undefined;
  /** The language model that words notes; absent where they are made by rule. */
  model?: ModelSettings | undefined;
  logLevel: string;
}

interface SettingsDefaults {
  workerId: string;
  cores: number;
}

const ANY_HOST = new Set(["0.0.0.0", "::"]);

/** Returns the settings, or all problems with them, each a sentence that names the variable. */
export function parseWorkerSettings(
  env: Environment,
  defaults: SettingsDefaults,
): { settings: WorkerSettings } | { problems: string[] } {
  const reader = new SettingsReader(env);
  const settings: WorkerSettings = {
    workerId: reader.get("WORKER_ID") ?? defaults.workerId,
    host: reader.get("WORKER_HOST"),
    port: reader.get("WORKER_PORT"),
    advertise: reader.get("WORKER_ADVERTISE"),
    threads: reader.get("WORKER_THREADS") ?? Math.max(1, defaults.cores),
    sessionsPerThread: reader.get("WORKER_SESSIONS_PER_THREAD"),
    natsUrl: reader.get("NATS_URL"),
    natsLogin: readNatsLogin(reader, "worker"),
    tls: readInnerTls(reader),
    key: reader.needWorkerKey(),
    opsHost: reader.get("OPS_HOST"),
    opsPort: reader.get("WORKER_OPS_PORT"),
    inferenceThreads: reader.get("WORKER_INFERENCE_THREADS") ?? inferenceThreads(defaults.cores),
    networks: readNetworks(reader),
    engines: readSpeechEngines(reader.get("SPEECH_ENGINES_FILE"), env, reader.problems),
    model: readModelSettings(reader),
    logLevel: reader.get("LOG_LEVEL"),
  };
  checkAddresses(settings, reader.problems);
  reader.problems.push(...clearTextProblems(reader, ["worker", "nats"]));
  return reader.problems.length > 0 ? { problems: reader.problems } : { settings };
}

function readNetworks(reader: SettingsReader): NetworkSettings {
  const named = reader.get("INFERENCE_PROVIDERS") as Provider[];
  return {
    providers: named.length === 0 ? USUAL_NETWORKS.providers : [...new Set(named)],
    wordThreads: reader.get("INFERENCE_THREADS_WORDS"),
    voiceThreads: reader.get("INFERENCE_THREADS_VOICES"),
  };
}

function readSpeechEngines(
  path: string | undefined,
  env: Environment,
  problems: string[],
): readonly EngineSettings[] | undefined {
  if (path === undefined) return undefined;
  const read = readEngines(path, env);
  if ("engines" in read) return read.engines;
  problems.push(...read.problems);
  return undefined;
}

function checkAddresses({ advertise, host }: WorkerSettings, problems: string[]): void {
  if (advertise !== undefined && !isWorkerAddress(advertise)) {
    problems.push(`WORKER_ADVERTISE must be host:port, not "${advertise}".`);
  }
  if (advertise === undefined && ANY_HOST.has(host)) {
    problems.push(
      "WORKER_ADVERTISE must say which host:port others reach when WORKER_HOST is any.",
    );
  }
}
