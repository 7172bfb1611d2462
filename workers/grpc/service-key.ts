import { createHash, timingSafeEqual } from "node:crypto";
import type { Metadata } from "@grpc/grpc-js";
import { AppError } from "../../src/base/errors.ts";

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Throws `unauthorized` unless the call carries the worker's key. */
export function checkServiceKey(key: string, metadata: Metadata): void {
  const told = metadata.get("authorization")[0]?.toString() ?? "";
  // Digests have the same length, so the comparison reveals nothing about the key's length.
  if (!timingSafeEqual(digest(told), digest(`Bearer ${key}`))) {
    throw new AppError("unauthorized", "This worker needs its service key (WORKER_KEY).");
  }
}
