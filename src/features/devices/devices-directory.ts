import type { Page, PageRequest } from "../../rest/page.ts";
import type { WorkspaceRole } from "../workspaces/workspaces-directory.ts";

export interface DeviceRecord {
  id: string;
  serial: string;
  name: string;
  model: string;
  firmware: string;
  status: "pairing" | "paired" | "revoked";
  workspaceId?: string | undefined;
  ownerId?: string | undefined;
  lastSeenAt?: number | undefined;
  /** As the newest heartbeats said. */
  telemetry: Record<string, unknown>;
  createdAt: number;
  updatedAt: number;
}

export interface DeviceFilter {
  /** Only devices that this user paired, or of workspaces that the user belongs to. */
  visibleTo?: string;
  workspaceId?: string;
  status?: DeviceRecord["status"];
}

export interface DeviceDirectory {
  find(id: string): Promise<DeviceRecord | undefined>;
  /** The caller's role in the device's workspace. */
  workspaceRole(deviceId: string, userId: string): Promise<WorkspaceRole | undefined>;
  list(filter: DeviceFilter, page: PageRequest): Promise<Page<DeviceRecord>>;
  /** False, and nothing changed, when `expected` is given and no longer its name. */
  rename(id: string, name: string, expected?: string): Promise<boolean>;
}
