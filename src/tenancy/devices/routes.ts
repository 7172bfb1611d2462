import { type Static, Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-entry.ts";
import { type DeviceAction, mayDevice } from "../../access/policy.ts";
import type { Principal, UserPrincipal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { requireUser } from "../../rest/callers.ts";
import { exampleId } from "../../rest/example-values.ts";
import { exampleOf } from "../../rest/examples.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { expectedOf, staleEdit } from "../../rest/representations.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import { presenceOf } from "../../session/presence.ts";
import { nameSchema } from "../../wire/names.ts";
import { requireWorkspace } from "../workspaces/routes.ts";
import type { WorkspaceStore } from "../workspaces/store.ts";
import type { HeartbeatWriter } from "./heartbeats.ts";
import type { IssuedKey, Pairing } from "./pairing.ts";
import type { DeviceRecord, DeviceStore } from "./store.ts";

const UNPAIRED = "The device is unpaired.";

const DEVICE_NAME = "Meeting room";

/** The name that somebody gives a device. */
export const deviceName = Type.Optional(nameSchema({ maxLength: 200, examples: [DEVICE_NAME] }));

const deviceStatusSchema = Type.Union(
  [Type.Literal("pairing"), Type.Literal("paired"), Type.Literal("revoked")],
  { $id: "DeviceStatus" },
);

export const deviceSchema = Type.Object(
  {
    id: Type.String(),
    device_serial: Type.String(),
    name: Type.String({ examples: [DEVICE_NAME] }),
    model: Type.String(),
    firmware: Type.String(),
    status: deviceStatusSchema,
    suspended: Type.Boolean({
      description:
        "True while its owner no longer belongs to its workspace, or is disabled: it begins nothing, and for 24 h may stop and upload what it had begun",
    }),
    may_read: Type.Boolean({
      description:
        "True when its owner lets it have the words of the session that it records (`transcript` of its stream's Configure)",
    }),
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
  },
  { $id: "Device" },
);

export function presentDevice(device: DeviceRecord, now: number): Static<typeof deviceSchema> {
  const { lastSeenAt } = device;
  return {
    id: device.id,
    device_serial: device.serial,
    name: device.name,
    model: device.model,
    firmware: device.firmware,
    status: device.status,
    suspended: device.suspended,
    may_read: device.mayRead,
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

/** Throws 404 for an id that no device has. */
export async function requireKnownDevice(
  devices: Pick<DeviceStore, "find">,
  id: string,
): Promise<DeviceRecord> {
  const device = isId(id) ? await devices.find(id) : undefined;
  if (device === undefined) throw unknownThing("device", id);
  return device;
}

interface DeviceOptions {
  devices: DeviceStore;
  heartbeats: Pick<HeartbeatWriter, "flush">;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  pairing: Pick<Pairing, "addVirtual" | "unpair">;
  revocations: Pick<RevocationFeed, "publish">;
  clock: Clock;
  cursorKey: Uint8Array;
}

/** GET and POST /devices; GET, PATCH and DELETE /devices/{id}. */
export function deviceRoutes(options: DeviceOptions): Route[] {
  return [
    listDevices(options),
    createVirtualDevice(options),
    getDevice(options),
    changeDevice(options),
    unpairDevice(options),
  ];
}

const deviceParams = Type.Object({ device_id: Type.String() });

async function requireDeviceFor(
  devices: DeviceStore,
  principal: Principal | undefined,
  id: string,
  action: DeviceAction,
): Promise<DeviceRecord> {
  const caller = requireUser(principal);
  const device = await requireKnownDevice(devices, id);
  const { ownerId } = device;
  const workspaceRole = await devices.workspaceRole(id, caller.id);
  const verdict = mayDevice(caller, action, { kind: "device", id, ownerId, workspaceRole });
  if (verdict === "allow") return device;
  throw new AppError("forbidden", "You have no right to this device.");
}

function listDevices({ devices, heartbeats, clock, cursorKey }: DeviceOptions): Route {
  return defineRoute({
    method: "get",
    path: "/devices",
    id: "listDevices",
    tag: "Device",
    summary: "Devices that the caller paired or shares a workspace with; all for an admin",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    query: Type.Object({
      ...pageQuery,
      workspace_id: Type.Optional(Type.String()),
      status: Type.Optional(deviceStatusSchema),
    }),
    responses: { 200: { description: "A page", schema: pageSchema(deviceSchema) } },
    async handle({ principal, query }) {
      const caller = requireUser(principal);
      const filter = filterId("workspace_id", query.workspace_id);
      await heartbeats.flush();
      const found = await devices.list(
        {
          visibleTo: caller.role === "admin" ? undefined : caller.id,
          workspaceId: filter,
          status: query.status,
        },
        toPageRequest(cursorKey, "devices", query),
      );
      const now = clock.now();
      const body = toPageBody(cursorKey, "devices", found, (device) => presentDevice(device, now));
      return { status: 200, body };
    },
  });
}

/** How the serial number of every virtual device begins. */
export const VIRTUAL_SERIAL = "virtual-";

/** What the example of a device shows that was just made. */
const NEW_DEVICE = {
  device_serial: `${VIRTUAL_SERIAL}${exampleId("serial_id")}`,
  firmware: "",
  presence: "offline",
  last_seen_at: undefined,
  telemetry: {},
};

function createVirtualDevice({ devices, workspaces, pairing, clock }: DeviceOptions): Route {
  return defineRoute({
    method: "post",
    path: "/devices",
    id: "createVirtualDevice",
    tag: "Device",
    summary: "Make a virtual device, for example this browser's microphone, and get its key",
    description: "The key is shown once and lives 30 days; claim-auth with it gives a fresh one.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    body: {
      kind: "json",
      schema: Type.Object({
        workspace_id: Type.String(),
        name: deviceName,
        model: Type.Optional(nameSchema({ maxLength: 200 })),
      }),
    },
    responses: {
      201: {
        description: "The device and its key",
        schema: Type.Object({
          device_id: Type.String(),
          api_key: Type.String({
            description: "The device's key, sent as `X-API-Key`; shown this once, good for 30 days",
          }),
          expires_at: Type.String(),
          device: deviceSchema,
        }),
        example: { device: exampleOf(deviceSchema, "", NEW_DEVICE) },
      },
    },
    errors: ["not_found", "quota_exceeded"],
    async handle({ principal, body }) {
      const owner = requireUser(principal);
      const { workspace_id: workspaceId, name, model = "virtual" } = body;
      await requireWorkspace(workspaces, owner, workspaceId, "workspace.pair");
      const description = { serial: `${VIRTUAL_SERIAL}${newId()}`, name, model };
      const key = await pairing.addVirtual(description, { workspaceId, ownerId: owner.id });
      const record = await requireKnownDevice(devices, key.deviceId);
      return {
        status: 201,
        headers: { "cache-control": "no-store" },
        body: { ...presentKey(key), device: presentDevice(record, clock.now()) },
      };
    },
  });
}

function getDevice({ devices, heartbeats, clock }: DeviceOptions): Route {
  return defineRoute({
    method: "get",
    path: "/devices/{device_id}",
    id: "getDevice",
    tag: "Device",
    summary: "One device",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: deviceParams,
    volatile: ["presence", "last_seen_at", "telemetry"],
    responses: { 200: { description: "The device", schema: deviceSchema } },
    async resolve({ principal, params }) {
      await heartbeats.flush();
      return requireDeviceFor(devices, principal, params.device_id, "device.read");
    },
    async handle(_request, device: DeviceRecord) {
      return { status: 200, body: presentDevice(device, clock.now()) };
    },
  });
}

function changeDevice({ devices, revocations, clock }: DeviceOptions): Route {
  return defineRoute({
    method: "patch",
    path: "/devices/{device_id}",
    id: "renameDevice",
    tag: "Device",
    summary: "Give a device another name, or say whether it may read",
    description:
      "`may_read` by its owner alone: then its stream may ask for the words of the session that it records. It is false until then, and again for whoever pairs it next. Taken back, a stream that reads gets no more words at once; the recording goes on.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: deviceParams,
    body: {
      kind: "json",
      schema: Type.Object({
        name: Type.Optional(nameSchema({ minLength: 1, maxLength: 200, examples: [DEVICE_NAME] })),
        may_read: Type.Optional(
          Type.Boolean({
            description: "Whether its stream may have the words of the session that it records",
          }),
        ),
      }),
    },
    responses: { 200: { description: "The device", schema: deviceSchema } },
    resolve: ({ principal, params }) =>
      requireDeviceFor(devices, principal, params.device_id, "device.edit"),
    async handle(request, device: DeviceRecord) {
      const caller = requireUser(request.principal);
      const { name, may_read: mayRead } = request.body;
      if (name === undefined && mayRead === undefined) {
        throw new AppError("invalid_body", "Send `name` or `may_read`.");
      }
      if (mayRead !== undefined) requireOwner(caller, device);
      const known = expectedOf(request, deviceSchema);
      const expected = known && { name: known.name, mayRead: known.may_read };
      const done = await devices.change(device.id, { name, mayRead }, actorOf(caller), expected);
      if (!done) throw staleEdit();
      if (mayRead === false) revocations.publish({ kind: "device", deviceId: device.id });
      const after = await requireKnownDevice(devices, device.id);
      return { status: 200, body: presentDevice(after, clock.now()) };
    },
  });
}

/** Throws 403 unless the caller may say whether the device reads. */
function requireOwner(caller: UserPrincipal, { id, ownerId }: DeviceRecord): void {
  const facts = { kind: "device", id, ownerId, workspaceRole: undefined } as const;
  if (mayDevice(caller, "device.let_read", facts) === "allow") return;
  throw new AppError("forbidden", "Only the device's owner may change `may_read`.");
}

function unpairDevice({ devices, pairing }: DeviceOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/devices/{device_id}",
    id: "unpairDevice",
    tag: "Device",
    summary: "Unpair a device: its keys and pairing secret end at once",
    description:
      "Its key may for 24 h still stop and upload what it had begun. It is used again by pairing it anew.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: deviceParams,
    responses: { 200: acknowledged(UNPAIRED) },
    resolve: ({ principal, params }) =>
      requireDeviceFor(devices, principal, params.device_id, "device.edit"),
    async handle({ principal }, device: DeviceRecord) {
      await pairing.unpair(device.id, actorOf(requireUser(principal)));
      return acknowledge(UNPAIRED);
    },
  });
}

export const issuedKeySchema = Type.Object(
  {
    device_id: Type.String(),
    api_key: Type.String({
      description: "The device's key, sent as `X-API-Key`; shown this once, good for 30 days",
    }),
    expires_at: Type.String(),
  },
  { $id: "IssuedDeviceKey" },
);

/** The answer that shows a key; no other answer shows it. */
export function presentKey(key: IssuedKey): Static<typeof issuedKeySchema> {
  return {
    device_id: key.deviceId,
    api_key: key.apiKey,
    expires_at: toTimestamp(key.expiresAt),
  };
}
