import { type Static, Type } from "@sinclair/typebox";
import type { Authenticator } from "../../access/authenticator.ts";
import type { Principal, UserPrincipal } from "../../access/principal.ts";
import { bearerOf } from "../../access/secrets.ts";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requireUser } from "../../rest/callers.ts";
import { exampleId } from "../../rest/example-values.ts";
import {
  defineRoute,
  HUMAN_ROLES,
  type Reply,
  type Request,
  type Route,
} from "../../rest/route.ts";
import { nameSchema } from "../../wire/names.ts";
import { requireWorkspace } from "../workspaces/routes.ts";
import type { WorkspaceStore } from "../workspaces/store.ts";
import { type CodeApproval, type IssuedKey, type Pairing, POLL_INTERVAL } from "./pairing.ts";
import {
  deviceName,
  deviceSchema,
  issuedKeySchema,
  presentDevice,
  presentKey,
  requireKnownDevice,
  VIRTUAL_SERIAL,
} from "./routes.ts";
import type { DeviceStore } from "./store.ts";

const NO_STORE = { "cache-control": "no-store" };

interface PairingRouteOptions {
  pairing: Pairing;
  devices: Pick<DeviceStore, "find">;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  authenticator: Authenticator;
  clock: Clock;
}

/** The four pairing routes of the interface, and POST /devices/pair. */
export function pairingRoutes(options: PairingRouteOptions): Route[] {
  return [publishCode(options), pair(options), status(options), claimAuth(options)];
}

function publishCode({ pairing }: PairingRouteOptions): Route {
  return defineRoute({
    method: "post",
    path: "/devices/pairing-codes",
    id: "publishPairingCode",
    tag: "Device",
    summary: "A device publishes its pairing code",
    description:
      "Without `code` the service makes one. A signed-in user types it within 10 min; meanwhile the device asks claim-auth with its `pairing_secret` every `interval` seconds. The secret is shown once. The page takes the code at `#/devices/pair/CODE` below its address, which a device with a screen may show as a QR code.",
    auth: [],
    body: {
      kind: "json",
      schema: Type.Object(
        {
          code: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 64,
              description: "A code of the device's own, for devices that cannot show ours",
            }),
          ),
          device_serial: nameSchema({ minLength: 1, maxLength: 200 }),
          name: deviceName,
          model: Type.Optional(nameSchema({ maxLength: 200 })),
          firmware: Type.Optional(nameSchema({ maxLength: 200 })),
        },
        { examples: [{ device_serial: "SN-000123", model: "recorder-2", firmware: "1.4.2" }] },
      ),
    },
    responses: {
      201: {
        description: "The code is published",
        schema: Type.Object({
          success: Type.Literal(true),
          device_id: Type.String(),
          code: Type.String({ description: "What a person types in to pair the device" }),
          pairing_secret: Type.String({
            description:
              "Bearer of POST /devices/pair/claim-auth, for the device alone; shown this once",
          }),
          expires_at: Type.String({ examples: ["2026-01-31T09:40:00.000Z"] }),
          interval: Type.Integer({ description: "Seconds between two polls" }),
        }),
      },
    },
    errors: ["code_in_use"],
    async handle({ body, address }) {
      const { code, device_serial: serial, name, model, firmware } = body;
      const published = await pairing.publish({ serial, name, model, firmware }, code, address);
      return {
        status: 201,
        headers: NO_STORE,
        body: {
          success: true,
          device_id: published.deviceId,
          code: published.code,
          pairing_secret: published.pairingSecret,
          expires_at: toTimestamp(published.expiresAt),
          interval: POLL_INTERVAL,
        },
      };
    },
  });
}

const codeMember = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "The code that the device shows",
});

function pair({ pairing, devices, workspaces, clock }: PairingRouteOptions): Route {
  return defineRoute({
    method: "post",
    path: "/devices/pair",
    id: "pairDevice",
    tag: "Device",
    summary: "Pair the device that shows this code with a workspace",
    description:
      "By a person who belongs to the workspace, or an administrator; small letters, spaces and dashes of the code do not matter. The caller becomes the device's owner, and the owner of the sessions that it starts. The device then gets its key with POST /devices/pair/claim-auth; no key is shown here. A code works once, within 10 min: 404 for an unknown or expired one, 409 for one that was used. `name` replaces the name that the device gave itself.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    body: {
      kind: "json",
      schema: Type.Object({ code: codeMember, workspace_id: Type.String(), name: deviceName }),
    },
    responses: { 200: { description: "The paired device", schema: deviceSchema } },
    errors: ["not_found", "conflict", "quota_exceeded"],
    async handle({ principal, body, address }) {
      const approval = await toApproval(workspaces, requireUser(principal), body, address);
      const deviceId = await pairing.approve(approval);
      const device = await requireKnownDevice(devices, deviceId);
      return { status: 200, body: presentDevice(device, clock.now()) };
    },
  });
}

async function toApproval(
  workspaces: PairingRouteOptions["workspaces"],
  user: UserPrincipal,
  body: { code: string; workspace_id: string; name?: string },
  address: string,
): Promise<CodeApproval> {
  const { code, workspace_id: workspaceId, name } = body;
  await requireWorkspace(workspaces, user, workspaceId, "workspace.pair");
  return { code, workspaceId, ownerId: user.id, name, address };
}

function status({ pairing }: PairingRouteOptions): Route {
  return defineRoute({
    method: "get",
    path: "/devices/pair/status",
    id: "pairingStatus",
    tag: "Device",
    summary: "How far the pairing of a device is; never shows a secret",
    auth: [],
    query: Type.Object(
      {
        device_id: Type.Optional(Type.String({ maxLength: 64 })),
        code: Type.Optional(
          Type.String({ maxLength: 64, description: "The code, in place of `device_id`" }),
        ),
      },
      { examples: [{ device_id: exampleId("device_id") }] },
    ),
    responses: {
      200: {
        description: "The status",
        schema: Type.Object({
          status: Type.Union(
            (["pending", "paired", "expired", "revoked"] as const).map((each) =>
              Type.Literal(each),
            ),
          ),
          interval: Type.Integer({ description: "Seconds between two polls" }),
        }),
      },
    },
    errors: ["not_found"],
    async handle({ query, address }) {
      const { device_id: id, code } = query;
      if ((id === undefined) === (code === undefined)) {
        throw new AppError("invalid_parameter", "Give either `device_id` or `code`.");
      }
      if (id !== undefined && !isId(id)) {
        throw unknownThing("device", id);
      }
      const found =
        id === undefined
          ? await pairing.statusByCode(code ?? "", address)
          : await pairing.statusById(id);
      return { status: 200, headers: NO_STORE, body: { status: found, interval: POLL_INTERVAL } };
    },
  });
}

const claimBody = Type.Object(
  {
    device_id: Type.Optional(
      Type.String({ description: "A virtual device of the caller's own, such as this browser" }),
    ),
    code: Type.Optional(codeMember),
    workspace_id: Type.Optional(Type.String()),
    name: deviceName,
  },
  { examples: [{ code: "BCDF-GHJK", workspace_id: exampleId("workspace_id") }] },
);

function claimAuth(options: PairingRouteOptions): Route {
  return defineRoute({
    method: "post",
    path: "/devices/pair/claim-auth",
    id: "claimDeviceKey",
    tag: "Device",
    summary: "A fresh device key",
    description:
      "The device calls with its `pairing_secret` as bearer (409 `not_paired` until somebody has entered its code: ask again after `interval` seconds), or with its current `X-API-Key`; the key before stays valid for 24 h at most. Or a signed-in user calls with `{code, workspace_id}`, which pairs and returns the key in one step, or with the `device_id` of a virtual device that they made. A key lives 30 days and is shown once.",
    auth: ["bearer", "device_key", "pairing_secret"],
    body: { kind: "json", schema: claimBody, optional: true },
    responses: { 200: { description: "The key", schema: issuedKeySchema } },
    errors: ["forbidden", "not_found", "conflict", "not_paired", "slow_down", "quota_exceeded"],
    // The claimant is checked here, so that 401 and 403 come before the body is validated.
    resolve: (request) => proveClaimant(options.authenticator, request),
    async handle({ body, address }, claimant: Claimant): Promise<Reply> {
      const key = await claim(options, claimant, body, address);
      return { status: 200, headers: NO_STORE, body: presentKey(key) };
    },
  });
}

type Claimant =
  | { kind: "secret"; secret: string }
  | { kind: "device"; deviceId: string }
  | { kind: "user"; user: UserPrincipal };

async function proveClaimant(
  authenticator: Authenticator,
  { headers, principal }: Pick<Request, "headers" | "principal">,
): Promise<Claimant> {
  const bearer = bearerOf(headers);
  // A pairing secret has no dots, an access token has two.
  if (principal === undefined && bearer !== undefined && !bearer.includes(".")) {
    return { kind: "secret", secret: bearer };
  }
  const caller: Principal =
    principal ?? (await authenticator.authenticate(headers, ["bearer", "device_key"]));
  if (caller.kind === "device") return { kind: "device", deviceId: caller.id };
  return { kind: "user", user: requireUser(caller) };
}

async function claim(
  options: PairingRouteOptions,
  claimant: Claimant,
  body: Static<typeof claimBody> | undefined,
  address: string,
): Promise<IssuedKey> {
  const { pairing, workspaces } = options;
  if (claimant.kind === "secret") return pairing.claim(claimant.secret);
  if (claimant.kind === "device") return pairing.renew(claimant.deviceId);
  const { code, workspace_id, name, device_id: deviceId } = body ?? {};
  if (deviceId !== undefined) return renewVirtual(options, claimant.user, deviceId);
  if (code === undefined || workspace_id === undefined) {
    throw new AppError(
      "invalid_body",
      "A user must send `code` and `workspace_id`, or the `device_id` of a virtual device.",
    );
  }
  const wanted = { code, workspace_id, name };
  return pairing.approveWithKey(await toApproval(workspaces, claimant.user, wanted, address));
}

/** A key for a virtual device whose key is gone with the page that had it; hardware keeps its own. */
async function renewVirtual(
  { pairing, workspaces, devices }: PairingRouteOptions,
  user: UserPrincipal,
  deviceId: string,
): Promise<IssuedKey> {
  const device = await requireKnownDevice(devices, deviceId);
  const isOwn = device.ownerId === user.id && device.status === "paired";
  if (!isOwn || !device.serial.startsWith(VIRTUAL_SERIAL)) throw unknownThing("device", deviceId);
  await requireWorkspace(workspaces, user, device.workspaceId ?? "", "workspace.pair");
  return pairing.renew(device.id, { kind: "user", id: user.id });
}
