import { Type } from "@sinclair/typebox";
import { mayDevice } from "../../access/policy.ts";
import type { DevicePrincipal } from "../../access/principal.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { requireDevice } from "../../rest/callers.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { type HeartbeatWriter, telemetrySchema } from "./heartbeats.ts";
import { requireKnownDevice } from "./routes.ts";
import type { DeviceStore } from "./store.ts";

interface HeartbeatOptions {
  devices: Pick<DeviceStore, "find">;
  heartbeats: HeartbeatWriter;
}

const commandSchema = Type.Object(
  {
    type: Type.Union([Type.Literal("renew_key"), Type.Literal("stop_recording")], {
      description:
        "`renew_key`: fetch a fresh key with POST /devices/pair/claim-auth. `stop_recording`: the session is over",
    }),
  },
  { $id: "DeviceCommand" },
);

/** POST /devices/{device_id}/heartbeat. */
export function heartbeatRoutes({ devices, heartbeats }: HeartbeatOptions): Route[] {
  const heartbeat = defineRoute({
    method: "post",
    path: "/devices/{device_id}/heartbeat",
    id: "heartbeat",
    tag: "Device",
    summary: "A device says that it is there, and how it does",
    description:
      "All members are optional; unknown ones are kept as telemetry. `commands` tells the device what to do: `renew_key` when its key runs out within 7 days, `stop_recording` when it says it records and no session is open. After three heartbeats that did not come the device is offline: they are due every 30 s, or every `period_seconds`.",
    frequent: true,
    auth: ["device_key"],
    params: Type.Object({ device_id: Type.String() }),
    body: {
      kind: "json",
      optional: true,
      schema: telemetrySchema,
    },
    responses: {
      200: {
        description: "Heard",
        schema: Type.Object({
          success: Type.Literal(true),
          server_time: Type.String(),
          session_id: Type.Optional(
            Type.String({ description: "The session that the device records now" }),
          ),
          commands: Type.Array(commandSchema, { description: "What the device is asked to do" }),
        }),
      },
    },
    errors: ["forbidden"],
    async resolve({ principal, params }): Promise<DevicePrincipal> {
      const caller = requireDevice(principal);
      // A device that shows its own key is known to exist, so only other ids are looked up.
      const { id, ownerId } =
        caller.id === params.device_id
          ? caller
          : await requireKnownDevice(devices, params.device_id);
      const facts = { kind: "device", id, ownerId, workspaceRole: undefined } as const;
      if (mayDevice(caller, "device.operate", facts) === "allow") return caller;
      throw new AppError("forbidden", "This key belongs to another device.");
    },
    async handle({ body = {} }, device: DevicePrincipal) {
      const { serverTime, sessionId, commands } = await heartbeats.beat(device, body);
      return {
        status: 200,
        body: {
          success: true,
          server_time: toTimestamp(serverTime),
          session_id: sessionId,
          commands,
        },
      };
    },
  });
  return [heartbeat];
}
