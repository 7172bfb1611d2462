import type { OverviewPorts } from "./api/admin-overview.ts";
import type { AppContext } from "./app-shared.ts";
import { KvNodeRegister } from "./bus/node-register.ts";
import { PostgresOverview } from "./store/overview.ts";

/** What administrators see of the whole service at once. */
export function createOverviewPorts({ config, clock, shared }: AppContext): OverviewPorts {
  return {
    overview: new PostgresOverview(shared.pool),
    register: new KvNodeRegister(shared.bus),
    workers: () => shared.placement.status(),
    leaseMs: config.leaseMs,
    warnings: shared.unsafe,
    clock,
  };
}
