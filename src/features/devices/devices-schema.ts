import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { presenceOf } from "../../session/presence.ts";
import type { DeviceDirectory, DeviceRecord } from "./devices-directory.ts";

export const deviceStatusSchema = Type.Union([
  Type.Literal("pairing"),
  Type.Literal("paired"),
  Type.Literal("revoked"),
]);

export const deviceSchema = Type.Object({
  id: Type.String(),
  device_serial: Type.String(),
  name: Type.String(),
  model: Type.String(),
  firmware: Type.String(),
  status: deviceStatusSchema,
  presence: Type.Union([Type.Literal("online"), Type.Literal("offline")], {
    description: "`offline` after three missed heartbeats",
  }),
  workspace_id: Type.Optional(Type.String()),
  owner_id: Type.Optional(Type.String({ description: "The user who paired it" })),
  last_seen_at: Type.Optional(Type.String()),
  telemetry: Type.Record(Type.String(), Type.Unknown(), {
    description: "What the newest heartbeats said",
  }),
  created_at: Type.String(),
  updated_at: Type.String(),
});

export function presentDevice(device: DeviceRecord, now: number): Static<typeof deviceSchema> {
  const { lastSeenAt } = device;
  return {
    id: device.id,
    device_serial: device.serial,
    name: device.name,
    model: device.model,
    firmware: device.firmware,
    status: device.status,
    presence:
      device.status === "paired" ? presenceOf(lastSeenAt, device.telemetry, now) : "offline",
    workspace_id: device.workspaceId,
    owner_id: device.ownerId,
    last_seen_at: lastSeenAt === undefined ? undefined : toTimestamp(lastSeenAt),
    telemetry: device.telemetry,
    created_at: toTimestamp(device.createdAt),
    updated_at: toTimestamp(device.updatedAt),
  };
}

/** 404 for an id that no device has. */
export async function requireKnownDevice(
  devices: Pick<DeviceDirectory, "find">,
  id: string,
): Promise<DeviceRecord> {
  const device = isId(id) ? await devices.find(id) : undefined;
  if (device === undefined) throw unknownThing("device", id);
  return device;
}
