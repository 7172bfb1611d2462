import type { Authenticator } from "../../access/authenticator.ts";
import type { AttemptStore } from "../accounts/attempts-store.ts";
import type { TenancyContext } from "../context.ts";
import type { WorkspaceStore } from "../workspaces/store.ts";
import { heartbeatRoutes } from "./heartbeat-routes.ts";
import { HeartbeatWriter } from "./heartbeats.ts";
import { PostgresHeartbeats } from "./heartbeats-store.ts";
import { Pairing } from "./pairing.ts";
import { pairingRoutes } from "./pairing-routes.ts";
import { PairingStore } from "./pairing-store.ts";
import { deviceRoutes } from "./routes.ts";
import { DeviceStore } from "./store.ts";

interface CreateDeviceOptions {
  attempts: AttemptStore;
  authenticator: Authenticator;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  /** Goes into what is kept of pairing codes. */
  pepper: Uint8Array;
}

/** Devices, from pairing on, and what they say of themselves. */
export function createDevices(
  { pool, clock, log, cursorKey, revocations, stack, queues, ceilings }: TenancyContext,
  { attempts, authenticator, workspaces, pepper }: CreateDeviceOptions,
) {
  const devices = new DeviceStore(pool);
  const store = new PairingStore(pool, ceilings);
  const pairing = new Pairing({ store, attempts, revocations, pepper, clock });
  // What this process heard is written before it goes.
  const heartbeats = new HeartbeatWriter({ store: new PostgresHeartbeats(pool), clock, log });
  queues.add(heartbeats);
  stack.push("heartbeats", () => heartbeats.stop());
  return {
    devices,
    pairing,
    heartbeats,
    routes: [
      ...pairingRoutes({ pairing, devices, workspaces, authenticator, clock }),
      ...deviceRoutes({ devices, heartbeats, workspaces, pairing, revocations, clock, cursorKey }),
      ...heartbeatRoutes({ devices, heartbeats }),
    ],
  };
}
