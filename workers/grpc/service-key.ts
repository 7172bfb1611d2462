import { createHash, timingSafeEqual } from "node:crypto";
import type { Metadata } from "@grpc/grpc-js";
import { AppError } from "../../src/base/errors.ts";

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Throws `unauthorized` unless the call bears the worker's key; any call will do without one. */
export function checkServiceKey(key: string | undefined, metadata: Metadata): void {
  if (key === undefined) return;
  const told = metadata.get("authorization")[0]?.toString() ?? "";
  // Digests have one length, so the comparison tells nothing about the key's.
  if (!timingSafeEqual(digest(told), digest(`Bearer ${key}`))) {
    throw new AppError("unauthorized", "This worker needs its service key (WORKER_KEY).");
  }
}
