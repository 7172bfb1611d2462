import { ApiClient, type CallOptions } from "../support/api-client.ts";
import { type OpenApiDocument, type Plan, requestPlans } from "./request-plan.ts";
import type { Target } from "./target.ts";
import { type FuzzWorld, fillIn } from "./world.ts";

export const HANG_MS = 20_000;

/**
 * Requests generated from the service's own OpenAPI document. A finding is an answer of 500 or
 * more, one that the document does not declare, or none in time.
 */
export async function httpTarget(api: string): Promise<Target<Plan>> {
  const client = await ApiClient.connect(api);
  const response = await fetch(`${api}/openapi.json`);
  const document = (await response.json()) as OpenApiDocument;
  return {
    name: "http",
    lanes: 4,
    plans: requestPlans(document),
    play: (plan, world) => send(client, plan, world),
  };
}

async function send(client: ApiClient, plan: Plan, world: FuzzWorld): Promise<string> {
  const { body, caller, method } = plan;
  const path = fillIn(world, plan.path);
  const options = {
    headers: { ...plan.headers, ...world.callers[caller] },
    timeoutMs: HANG_MS,
    ...(body === undefined
      ? {}
      : { body: "json" in body ? fillIn(world, body.json) : Buffer.from(body.base64, "base64") }),
  };
  try {
    const { status, text } = await client.call(method, path, options);
    if (status >= 500) throw new Error(`answered ${status}: ${text}`);
    return String(status);
  } catch (error) {
    if (isCut(error) && (await isGone(client, method, path, options))) return "cut";
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${plan.operationId}: ${reason.replace(/^[A-Z]+ \S+ /, "")}`);
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
