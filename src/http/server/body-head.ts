import { AppError } from "../../base/errors.ts";
import type { Route } from "../../rest/route.ts";
import type { Headers } from "./incoming.ts";
import { tooLarge } from "./json-body.ts";

/** Bytes of body that the headers announce; infinite when they only say that there is one. */
export function bodyLength(headers: Headers): number {
  if (headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  const length = Number(headers["content-length"] ?? 0);
  return Number.isFinite(length) && length > 0 ? length : 0;
}

/**
 * Refuses by the headers alone, before a byte is read: 413 and 415. A caller
 * that sent `Expect: 100-continue` gets its 100 all the same, from
 * uWebSockets.js before we are asked, and right after it the refusal.
 */
export function checkBodyHead(route: Route, headers: Headers, limit: number): void {
  // What comes with a GET means nothing, whatever its size.
  if (route.method === "get") return;
  const length = bodyLength(headers);
  if (Number.isFinite(length) && length > limit) throw tooLarge(limit);
  if (length === 0 || route.body === undefined) return;
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity") {
    throw new AppError("unsupported_media_type", "Compressed request bodies are not supported.");
  }
  if (route.body.kind === "json") checkJsonType(headers["content-type"] ?? "");
}

function checkJsonType(contentType: string): void {
  const [type = "", ...parameters] = contentType.toLowerCase().split(";");
  const mediaType = type.trim();
  if (mediaType !== "application/json" && !mediaType.endsWith("+json")) {
    throw new AppError(
      "unsupported_media_type",
      "The request body must be JSON with the Content-Type application/json.",
    );
  }
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith("charset="));
  const name = charset?.slice("charset=".length).replaceAll('"', "");
  if (name !== undefined && name !== "utf-8" && name !== "utf8") {
    throw new AppError("unsupported_media_type", "The request body must be encoded in UTF-8.");
  }
}
