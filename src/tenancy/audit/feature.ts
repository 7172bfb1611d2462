import type { TenancyContext } from "../context.ts";
import { AuditStore } from "./audit-store.ts";
import { elevationRoutes } from "./elevation.ts";
import { ElevationStore } from "./elevation-store.ts";
import { FailedSignInStore } from "./failed-sign-ins-store.ts";
import { auditRoutes } from "./routes.ts";

interface CreateAuditOptions {
  /** HMAC key of the digests of network addresses. */
  addressKey: Uint8Array;
}

/** The log of what was done with whose data, and the elevations that it records. */
export function createAudit(
  { pool, clock, cursorKey, revocations }: TenancyContext,
  { addressKey }: CreateAuditOptions,
) {
  const audit = new AuditStore(pool);
  const elevations = new ElevationStore(pool);
  return {
    audit,
    failures: new FailedSignInStore(pool, addressKey),
    elevations,
    routes: [
      ...elevationRoutes({ elevations, revocations, clock }),
      ...auditRoutes({ log: audit, cursorKey }),
    ],
  };
}
