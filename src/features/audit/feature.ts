import type { FeatureContext } from "../context.ts";
import { AuditStore } from "./audit-store.ts";
import { elevationRoutes } from "./elevation.ts";
import { ElevationStore } from "./elevation-store.ts";
import { auditRoutes } from "./routes.ts";

/** The log of what was done with whose data, and the elevations that it records. */
export function createAudit({ pool, clock, cursorKey, revocations }: FeatureContext) {
  const audit = new AuditStore(pool);
  const elevations = new ElevationStore(pool);
  return {
    audit,
    elevations,
    routes: [
      ...elevationRoutes({ elevations, revocations, clock }),
      ...auditRoutes({ log: audit, cursorKey }),
    ],
  };
}
