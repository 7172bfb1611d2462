import type { Route } from "./route.ts";

/**
 * Does the route take an Idempotency-Key? Every POST that creates does;
 * uploads are known by their sequence instead.
 */
export function isRepeatable(route: Route): boolean {
  if (route.method !== "post" || route.body?.kind === "upload") return false;
  return 201 in route.responses || 202 in route.responses;
}
