import type { OverviewPorts } from "./api/admin-overview.ts";
import type { AppContext } from "./app-shared.ts";
import { PostgresNodeRegister } from "./store/lease-table.ts";
import { PostgresOverview } from "./store/overview.ts";

/** What administrators see of the whole service at once. */
export function createOverviewPorts({ config, clock, shared }: AppContext): OverviewPorts {
  return {
    overview: new PostgresOverview(shared.pool),
    register: new PostgresNodeRegister(shared.pool),
    workers: () => shared.placement.status(),
    leaseMs: config.leaseMs,
    warnings: shared.unsafe,
    clock,
  };
}
