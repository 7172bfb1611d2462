import { collectDefaultMetrics, Registry } from "prom-client";
import {
  LOOP_DELAY_FIGURES,
  LoopDelay,
  WITHOUT_LOOP_DELAY,
} from "../src/base/metrics/loop-delay.ts";
import type { OpsSource } from "../src/base/ops-server.ts";
import { type QueueOwner, renderQueues } from "../src/base/queue-metrics.ts";
import type { LanguageModelStatus } from "../src/wire/language-model.ts";
import type { MissingEngine } from "../src/wire/worker-announcement.ts";

/** The state on which a worker's readiness depends. */
export interface WorkerStatus {
  version: string;
  isDraining(): boolean;
  /** Number of sessions that the threads hold, and that they can hold. */
  sessions(): { held: number; capacity: number };
  /** Engines that are configured and cannot be used. */
  missing?(): readonly MissingEngine[];
  /** False while the worker cannot announce itself. */
  isAnnounced(): boolean;
  /** The language model, where the operator names one. */
  model?: { readonly status: LanguageModelStatus; metricsText(): string } | undefined;
}

interface Check {
  status: "ok" | "degraded" | "down";
  message?: string;
}

/** Creates metrics and readiness of a worker, for its operations port. */
export function opsSource(queues: QueueOwner, status: WorkerStatus): OpsSource {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, ...WITHOUT_LOOP_DELAY });
  for (const name of LOOP_DELAY_FIGURES) registry.removeSingleMetric(name);
  const loopDelay = new LoopDelay();
  return {
    metrics: {
      contentType: registry.contentType,
      text: async () =>
        `${await registry.metrics()}${loopDelay.text()}${renderQueues(queues.queues)}${status.model?.metricsText() ?? ""}`,
    },
    ready: async () => readiness(status),
  };
}

function readiness(status: WorkerStatus): { status: number; body: object } {
  const checks = {
    threads: threads(status),
    ...engines(status),
    ...languageModel(status),
    nats: nats(status),
  };
  const failing = Object.values(checks).find(({ status }) => status === "down");
  const why = status.isDraining() ? "The worker is stopping." : failing?.message;
  if (why !== undefined) {
    return { status: 503, body: { success: false, message: why, status: "down", checks } };
  }
  const isWhole = Object.values(checks).every(({ status }) => status === "ok");
  const { version } = status;
  return { status: 200, body: { status: isWhole ? "ok" : "degraded", version, checks } };
}

function threads(status: WorkerStatus): Check {
  const { held, capacity } = status.sessions();
  if (capacity === 0) {
    return { status: "down", message: "No recognition thread is running at the moment." };
  }
  if (held < capacity) return { status: "ok" };
  return { status: "degraded", message: `All ${capacity} places for sessions are taken.` };
}

/** Nothing while every configured engine can be used. */
function engines(status: WorkerStatus): Record<string, Check> {
  const missing = status.missing?.() ?? [];
  if (missing.length === 0) return {};
  const message = missing.map(({ name, reason }) => `${name}: ${reason}`).join(" ");
  return { engines: { status: "degraded", message } };
}

/** Nothing where no language model is configured. */
function languageModel({ model }: WorkerStatus): Record<string, Check> {
  if (model === undefined) return {};
  const { answers, reason = "It does not answer." } = model.status;
  return { language_model: answers ? { status: "ok" } : { status: "degraded", message: reason } };
}

function nats(status: WorkerStatus): Check {
  if (status.isAnnounced()) return { status: "ok" };
  return {
    status: "degraded",
    message: "NATS does not know this worker; it serves only who has its address.",
  };
}
