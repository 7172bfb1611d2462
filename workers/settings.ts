import { isWorkerAddress } from "../src/wire/worker-announcement.ts";

export interface WorkerSettings {
  workerId: string;
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** Address told to others; the bound one when absent. */
  advertise: string | undefined;
  threads: number;
  sessionsPerThread: number;
  natsUrl: string | undefined;
  natsToken: string | undefined;
  key: string | undefined;
  /** Where metrics are told; nowhere when absent. 0 picks a free one. */
  opsPort: number | undefined;
  nativeRoot: string | undefined;
  logLevel: string;
}

export interface SettingsDefaults {
  workerId: string;
  cores: number;
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];
const ANY_HOST = new Set(["0.0.0.0", "::"]);

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings, or every problem with them, each a sentence that names the variable. */
export function parseWorkerSettings(
  env: Environment,
  defaults: SettingsDefaults,
): { settings: WorkerSettings } | { problems: string[] } {
  const problems: string[] = [];
  const settings: WorkerSettings = {
    workerId: text(env, "WORKER_ID") ?? defaults.workerId,
    host: text(env, "WORKER_HOST") ?? "127.0.0.1",
    port: whole(env, "WORKER_PORT", 0, [0, 65_535], problems),
    advertise: text(env, "WORKER_ADVERTISE"),
    threads: whole(env, "WORKER_THREADS", Math.max(1, defaults.cores), [1, 256], problems),
    sessionsPerThread: whole(env, "WORKER_SESSIONS_PER_THREAD", 4, [1, 64], problems),
    natsUrl: text(env, "NATS_URL"),
    natsToken: text(env, "NATS_TOKEN"),
    key: text(env, "WORKER_KEY"),
    opsPort:
      text(env, "WORKER_OPS_PORT") === undefined
        ? undefined
        : whole(env, "WORKER_OPS_PORT", 0, [0, 65_535], problems),
    nativeRoot: text(env, "VOICE_NATIVE_ROOT"),
    logLevel: text(env, "LOG_LEVEL") ?? "info",
  };
  checkAddresses(settings, problems);
  if (!LOG_LEVELS.includes(settings.logLevel)) {
    problems.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}.`);
  }
  return problems.length > 0 ? { problems } : { settings };
}

function checkAddresses(settings: WorkerSettings, problems: string[]): void {
  const { advertise, host, key, workerId } = settings;
  if (workerId.length > 256) problems.push("WORKER_ID must have at most 256 characters.");
  if (advertise !== undefined && !isWorkerAddress(advertise)) {
    problems.push(`WORKER_ADVERTISE must be host:port, not "${advertise}".`);
  }
  if (advertise === undefined && ANY_HOST.has(host)) {
    problems.push(
      "WORKER_ADVERTISE must say which host:port others reach when WORKER_HOST is any.",
    );
  }
  if (key !== undefined && key.length < 16) {
    problems.push("WORKER_KEY must have at least 16 characters.");
  }
}

/** An empty variable is one that is not set. */
function text(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}

function whole(
  env: Environment,
  name: string,
  fallback: number,
  [min, max]: [number, number],
  problems: string[],
): number {
  const value = text(env, name);
  if (value === undefined) return fallback;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  problems.push(`${name} must be a whole number from ${min} to ${max}, not "${value}".`);
  return fallback;
}
