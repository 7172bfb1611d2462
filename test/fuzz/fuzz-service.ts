import fc from "fast-check";
import { ApiClient, type CallOptions } from "../support/api-client.ts";
import { type SeededWorld, seedWorld } from "../support/seeded-world.ts";
import type { WholeService } from "../support/whole-service.ts";
import { type OpenApiDocument, type Plan, requestPlans } from "./request-plan.ts";

export interface FuzzOptions {
  requests: number;
  seed: number;
  /** Called after every request that was answered. */
  onRequest?: (done: number) => void;
}

export interface FuzzResult {
  /** Answers by status. */
  statuses: Map<number, number>;
  /** One entry for each kind of failure, with the first request that showed it. */
  failures: Map<string, { count: number; plan: Plan }>;
}

/** Requests against one world; callers that ended themselves come back with the next. */
const PER_WORLD = 200;
const IN_FLIGHT = 4;
const HANG_MS = 10_000;

/**
 * Sends requests generated from the service's own OpenAPI document. A failure
 * is an answer of 500 or more, one that the document does not declare, or none
 * within 10 s.
 */
export async function fuzzService(
  service: WholeService,
  { requests, seed, onRequest }: FuzzOptions,
): Promise<FuzzResult> {
  const client = await ApiClient.connect(service.api);
  const response = await fetch(`${service.api}/openapi.json`);
  const document = (await response.json()) as OpenApiDocument;
  const arbitrary = requestPlans(document);
  const result: FuzzResult = { statuses: new Map(), failures: new Map() };
  let done = 0;
  for (let batch = 0; done < requests; batch += 1) {
    const count = Math.min(PER_WORLD, requests - done);
    const plans = fc.sample(arbitrary, { numRuns: count, seed: seed + batch });
    const world = await seedWorld(client, service.ready.admin);
    const next = plans.values();
    const work = async (): Promise<void> => {
      for (const plan of next) {
        await send(client, world, plan, result);
        done += 1;
        onRequest?.(done);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  }
  return result;
}

async function send(
  client: ApiClient,
  world: SeededWorld,
  plan: Plan,
  { statuses, failures }: FuzzResult,
): Promise<void> {
  const fill = (text: string): string =>
    text.replaceAll(/known:(\w+)/g, (_all, name: string) => world.ids[name] ?? MISSING);
  const { body, caller } = plan;
  const options = {
    headers: { ...plan.headers, ...world.callers[caller] },
    timeoutMs: HANG_MS,
    ...(body === undefined
      ? {}
      : { body: "json" in body ? fill(body.json) : Buffer.from(body.base64, "base64") }),
  };
  try {
    const { status, text } = await client.call(plan.method, fill(plan.path), options);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status >= 500) throw new Error(`answered ${status}: ${text}`);
  } catch (error) {
    if (isCut(error) && (await isGone(client, plan.method, fill(plan.path), options))) return;
    const reason = error instanceof Error ? error.message : String(error);
    const kind = `${plan.operationId}: ${shortened(reason)}`;
    const known = failures.get(kind);
    failures.set(kind, { count: (known?.count ?? 0) + 1, plan: known?.plan ?? plan });
  }
}

/** The connection ended in the middle of an answer's body. */
function isCut(error: unknown): boolean {
  return error instanceof TypeError && error.message === "terminated";
}

/** What was being read was deleted meanwhile: only then may its body end half-way. */
async function isGone(
  client: ApiClient,
  method: string,
  path: string,
  options: CallOptions,
): Promise<boolean> {
  const again = await client.call(method, path, options).catch(() => undefined);
  return again?.status === 404;
}

const MISSING = "019c1234-5678-7abc-8def-000000000000";

/** Without what differs from one request to the next. */
function shortened(reason: string): string {
  return reason
    .replace(/^[A-Z]+ \S+ /, "")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
    .slice(0, 300);
}

/** The failures as text for people, with what repeats them. */
export function describeFailures({ failures }: FuzzResult): string[] {
  return [...failures].map(
    ([kind, { count, plan }]) => `${count} × ${kind}\n    ${JSON.stringify(plan).slice(0, 800)}`,
  );
}
