import { newId } from "../base/ids.ts";
import type { Request, Route } from "./route.ts";

/**
 * Does the route take an Idempotency-Key? Every POST that creates does, and
 * every wish to a session; uploads are known by their sequence instead.
 */
export function isRepeatable(route: Route): boolean {
  return isKept(route) || route.wish === true;
}

/**
 * Is its answer kept, and given again? That of another wish is made anew: the
 * session knows what it has done, and the words in an answer may go meanwhile.
 */
export function isKept(route: Route): boolean {
  if (route.method !== "post" || route.body?.kind === "upload") return false;
  return 201 in route.responses || 202 in route.responses;
}

/** The id for the command that a request comes to. */
export function commandIdOf({ commandId }: Pick<Request, "commandId">): string {
  return commandId ?? newId();
}
