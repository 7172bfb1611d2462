import { createHash } from "node:crypto";
import { type LanguageModelStatus, tryLanguageModelStatus } from "./language-model.ts";
import { isEngineName, type SpeechEngine, trySpeechEngine } from "./speech-engines.ts";

/** The announcement that a worker publishes every second and at every change of its load. */
export interface WorkerAnnouncement {
  worker_id: string;
  /** Id of the process, different after every start; absent from older workers. */
  instance?: string;
  /** `host:port` of its gRPC server, as other processes reach it. */
  address: string;
  /** Number of sessions that it can take now; smaller than usual while a thread restarts. */
  capacity: number;
  sessions: number;
  version: string;
  /** Names of the engines. */
  engines: string[];
  /** What each of them is; absent from older workers, whose engines are known by their names alone. */
  speech?: SpeechEngine[];
  /** Engines that are configured and cannot be used, with what is missing. */
  missing?: MissingEngine[];
  /** The language model that it may ask, if any. */
  language_model?: LanguageModelStatus;
  /** By what its networks are run; absent where it has none, and from older workers. */
  networks?: NetworkStatus;
  /**
   * Fingerprint of the key that calls must carry. Absent once it was checked, and from workers of
   * older releases that need no key.
   */
  key_fingerprint?: string;
  /** True when it takes no new sessions and is about to stop. */
  draining: boolean;
}

/** By what a worker's networks are run. */
export interface NetworkStatus {
  /** `cpu`, or `cuda` for NVIDIA's cards. */
  provider: string;
  /** Why it is not the one that is wanted most, a sentence. */
  reason?: string;
}

/** An engine that a worker should have and has not. */
export interface MissingEngine {
  name: string;
  /** What is missing and what to do, a sentence. */
  reason: string;
}

const MAX_BYTES = 64 * 1024;
const MAX_TEXT = 256;
const MAX_REASON = 1_000;
const MAX_ENGINES = 32;
const ADDRESS = /^(\[[0-9a-f:]+\]|[^\s:/]+):([1-9]\d{0,4})$/i;

/**
 * A fingerprint that shows whether two processes have the same WORKER_KEY, without revealing it.
 */
export function fingerprintOfKey(key: string): string {
  return createHash("sha256").update(`voice worker key ${key}`).digest("base64url").slice(0, 16);
}

/** Whether the worker has the same key. One that tells of none gets no audio. */
export function acceptsKey({ key_fingerprint }: WorkerAnnouncement, key: string): boolean {
  return key_fingerprint === fingerprintOfKey(key);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_TEXT;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** True for `host:port` with a port of 1 to 65535. */
export function isWorkerAddress(value: unknown): value is string {
  if (!isText(value)) return false;
  const port = ADDRESS.exec(value)?.[2];
  return port !== undefined && Number(port) <= 65_535;
}

function isAnnouncement(value: unknown): value is WorkerAnnouncement {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<keyof WorkerAnnouncement, unknown>;
  return (
    isText(fields.worker_id) &&
    (fields.instance === undefined || isText(fields.instance)) &&
    isWorkerAddress(fields.address) &&
    isCount(fields.capacity) &&
    isCount(fields.sessions) &&
    isText(fields.version) &&
    Array.isArray(fields.engines) &&
    fields.engines.length <= MAX_ENGINES &&
    fields.engines.every(isText) &&
    (fields.key_fingerprint === undefined || isText(fields.key_fingerprint)) &&
    typeof fields.draining === "boolean"
  );
}

/** Parses an announcement in a NATS message; undefined when it is not a valid one. */
export function tryWorkerAnnouncement(data: Uint8Array): WorkerAnnouncement | undefined {
  if (data.byteLength > MAX_BYTES) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8"));
  } catch {
    return undefined;
  }
  if (!isAnnouncement(value)) return undefined;
  const { worker_id, instance, address, capacity, sessions, version, engines, draining } = value;
  const { key_fingerprint } = value;
  const networks = networksOf(value.networks);
  const speech = speechOf(value.speech);
  const missing = missingOf(value.missing);
  const model = tryLanguageModelStatus(value.language_model);
  return {
    worker_id,
    ...(instance === undefined ? {} : { instance }),
    address,
    capacity,
    sessions,
    version,
    engines: [...engines],
    ...(speech === undefined ? {} : { speech }),
    ...(missing === undefined ? {} : { missing }),
    ...(model === undefined ? {} : { language_model: model }),
    ...(networks === undefined ? {} : { networks }),
    ...(key_fingerprint === undefined ? {} : { key_fingerprint }),
    draining,
  };
}

/** Descriptions that make sense; a newer worker's others are passed over. */
function speechOf(value: unknown): SpeechEngine[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, MAX_ENGINES).flatMap((each: unknown) => trySpeechEngine(each) ?? []);
}

function missingOf(value: unknown): MissingEngine[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, MAX_ENGINES).flatMap((each: unknown) => {
    const { name, reason } = (each ?? {}) as Record<keyof MissingEngine, unknown>;
    if (!isEngineName(name) || typeof reason !== "string") return [];
    return [{ name, reason: reason.slice(0, MAX_REASON) }];
  });
}

function networksOf(value: unknown): NetworkStatus | undefined {
  const { provider, reason } = (value ?? {}) as Record<keyof NetworkStatus, unknown>;
  if (!isText(provider)) return undefined;
  return { provider, ...(typeof reason === "string" && { reason: reason.slice(0, MAX_REASON) }) };
}

export function encodeWorkerAnnouncement(announcement: WorkerAnnouncement): Uint8Array {
  return Buffer.from(JSON.stringify(announcement), "utf8");
}
