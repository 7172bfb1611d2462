import { PostgresNodeRegister } from "../../postgres/lease-store.ts";
import { ParkedCommandStore } from "../../postgres/parked-commands.ts";
import type { FeatureContext } from "../context.ts";
import { AudioMove } from "../recording/audio-store/audio-move.ts";
import type { MovingStore } from "../recording/audio-store/moving-store.ts";
import { failChunksOf } from "../recording/chunk-states-store.ts";
import type { AudioVerification } from "../recording/integrity/audio-verification.ts";
import { storedAudioRoutes } from "./audio.ts";
import { audioMoveRoutes } from "./audio-move.ts";
import { type HealthOptions, healthRoutes } from "./health.ts";
import { outboxRoutes } from "./outbox.ts";
import { type OverviewOptions, overviewRoutes } from "./overview.ts";
import { OverviewStore } from "./overview-store.ts";

interface CreateAdminOptions extends Pick<OverviewOptions, "workers" | "leaseMs" | "warnings"> {
  verification: AudioVerification;
  /** The store of the audio while it is moved there from another one. */
  moving: MovingStore | undefined;
  health: HealthOptions;
}

/** The installation as its operators see it. */
export function createAdmin(
  { pool, clock, cursorKey }: FeatureContext,
  { health, verification, moving, ...state }: CreateAdminOptions,
) {
  const overview = new OverviewStore(pool);
  const register = new PostgresNodeRegister(pool);
  const parked = new ParkedCommandStore(pool, failChunksOf);
  const move = moving && new AudioMove(moving, clock);
  return {
    routes: [
      ...overviewRoutes({ ...state, overview, register, clock }),
      ...outboxRoutes({ parked, cursorKey }),
      ...storedAudioRoutes({ verification, cursorKey }),
      ...audioMoveRoutes({ move, cursorKey }),
      ...healthRoutes(health),
    ],
  };
}
