import { AppError } from "../base/errors.ts";
import type { Request } from "./route.ts";

/** Refuses prefetches of browsers, so that they do not create tokens. */
export function refusePrefetch(headers: Request["headers"]): void {
  const purpose = `${headers["sec-purpose"] ?? ""} ${headers.purpose ?? ""}`;
  if (/prefetch|prerender/i.test(purpose)) {
    throw new AppError("unauthorized", "Tokens are not handed out to prefetches.");
  }
}
