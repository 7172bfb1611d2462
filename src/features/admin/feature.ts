import { PostgresNodeRegister } from "../../postgres/lease-store.ts";
import { ParkedCommandStore } from "../../postgres/parked-commands.ts";
import type { FeatureContext } from "../context.ts";
import { failChunksOf } from "../recording/chunk-states-store.ts";
import type { AudioVerification } from "../recording/integrity/audio-verification.ts";
import { storedAudioRoutes } from "./audio.ts";
import { type HealthOptions, healthRoutes } from "./health.ts";
import { outboxRoutes } from "./outbox.ts";
import { type OverviewOptions, overviewRoutes } from "./overview.ts";
import { OverviewStore } from "./overview-store.ts";

interface CreateAdminOptions extends Pick<OverviewOptions, "workers" | "leaseMs" | "warnings"> {
  verification: AudioVerification;
  health: HealthOptions;
}

/** The installation as its operators see it. */
export function createAdmin(
  { pool, clock, cursorKey }: FeatureContext,
  { health, verification, ...state }: CreateAdminOptions,
) {
  const overview = new OverviewStore(pool);
  const register = new PostgresNodeRegister(pool);
  const parked = new ParkedCommandStore(pool, failChunksOf);
  return {
    routes: [
      ...overviewRoutes({ ...state, overview, register, clock }),
      ...outboxRoutes({ parked, cursorKey }),
      ...storedAudioRoutes({ verification, cursorKey }),
      ...healthRoutes(health),
    ],
  };
}
