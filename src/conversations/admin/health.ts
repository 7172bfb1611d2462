import { Type } from "@sinclair/typebox";
import type { Clock } from "../../base/clock.ts";
import { withTimeout } from "../../base/deferred.ts";
import { errorMessage } from "../../base/errors.ts";
import { defineRoute, type Reply, type Route } from "../../rest/route.ts";

export interface HealthCheck {
  status: "ok" | "degraded" | "down";
  message?: string;
}

/** Checks what the process depends on. */
interface HealthChecks {
  /**
   * Runs the checks and returns each part by name. A part that is `down` makes the service down,
   * unless it is one of `spared`.
   */
  run(): Promise<Record<string, HealthCheck>>;
  /** Parts without which much still works: `down` they make the service `degraded`. */
  spared?: ReadonlySet<string>;
}

export interface HealthOptions {
  checks: HealthChecks;
  version: string;
  clock: Clock;
  /** True while the process shuts down: it still serves, but should get no new clients. */
  stopping?(): boolean;
  /** Longest wait for the checks, milliseconds. */
  timeoutMs?: number;
}

const Check = Type.Object(
  {
    status: Type.Union([Type.Literal("ok"), Type.Literal("degraded"), Type.Literal("down")], {
      description: "How the part does",
    }),
    message: Type.Optional(
      Type.String({
        description: "What is wrong with it, or which engines and models there are, for people",
      }),
    ),
  },
  { $id: "HealthCheck" },
);

const Checks = Type.Record(Type.String(), Check, { description: "Each part, by name" });

const Healthy = Type.Object(
  {
    status: Type.Union([Type.Literal("ok"), Type.Literal("degraded")], {
      description: "`degraded`: it works, with less than all of it",
    }),
    version: Type.String({ description: "Version of the service" }),
    uptime_seconds: Type.Number({
      description: "How long the process has been running, in seconds",
    }),
    checks: Checks,
  },
  { $id: "Health" },
);

const Down = Type.Object(
  {
    success: Type.Literal(false),
    message: Type.String({ examples: ["Not available: database."] }),
    status: Type.Literal("down", {
      description: "Something that everything needs does not answer",
    }),
    checks: Type.Record(Type.String(), Check, {
      description: "Each part, by name",
      examples: [{ database: { status: "down", message: "It does not answer." } }],
    }),
  },
  { $id: "HealthDown" },
);

const ALIVE: Reply = { status: 200, body: { status: "ok" } };
const Alive = Type.Object({ status: Type.Literal("ok", { description: "The process answers" }) });

const CHECK_TIMEOUT_MS = 5000;

/** GET /health, /health/live and /health/ready; none needs authentication. */
export function healthRoutes(options: HealthOptions): Route[] {
  const startedAt = options.clock.monotonic();
  const report = (): Promise<Reply> => health(options, startedAt);
  const responses = {
    200: { description: "It works, perhaps with less than all of it.", schema: Healthy },
    503: { description: "A part that everything needs is down.", schema: Down },
  };
  const shared = { method: "get", tag: "Health", auth: [] } as const;
  return [
    defineRoute({
      ...shared,
      path: "/health",
      id: "getHealth",
      summary: "How the service is",
      responses,
      handle: report,
    }),
    defineRoute({
      ...shared,
      path: "/health/live",
      id: "getLiveness",
      summary: "The process answers",
      description:
        "For who restarts a process that hangs. Whether it can serve says GET /health/ready.",
      responses: { 200: { description: "It does.", schema: Alive } },
      frequent: true,
      ready: ALIVE,
      handle: async () => ALIVE,
    }),
    defineRoute({
      ...shared,
      path: "/health/ready",
      id: "getReadiness",
      summary: "The process can serve requests",
      description: "503 as soon as it is stopping, while it still serves what comes.",
      responses,
      handle: readiness(options, startedAt),
    }),
  ];
}

/** Answers whether the process can serve requests, and what is wrong when it cannot. */
export function readiness(
  options: HealthOptions,
  startedAt = options.clock.monotonic(),
): () => Promise<Reply> {
  return async () =>
    options.stopping?.()
      ? notAvailable("The service is stopping.", {})
      : health(options, startedAt);
}

async function health(options: HealthOptions, startedAt: number): Promise<Reply> {
  const checks = await runChecks(options);
  const down = Object.keys(checks).filter((name) => checks[name]?.status === "down");
  const failing = down.filter((name) => !options.checks.spared?.has(name));
  if (failing.length > 0) return notAvailable(`Not available: ${failing.join(", ")}.`, checks);
  const uptime = Math.round(options.clock.monotonic() - startedAt) / 1000;
  const isWhole = Object.values(checks).every(({ status }) => status === "ok");
  const status = isWhole ? "ok" : "degraded";
  return {
    status: 200,
    body: { status, version: options.version, uptime_seconds: uptime, checks },
  };
}

function notAvailable(message: string, checks: Record<string, HealthCheck>): Reply {
  return {
    status: 503,
    headers: { "X-Error-Code": "unavailable" },
    body: { success: false, message, status: "down", checks },
  };
}

async function runChecks(options: HealthOptions): Promise<Record<string, HealthCheck>> {
  const ms = options.timeoutMs ?? CHECK_TIMEOUT_MS;
  try {
    return await withTimeout(options.checks.run(), ms, "Checking the parts");
  } catch (error) {
    return { checks: { status: "down", message: errorMessage(error) } };
  }
}
