import { type Static, Type } from "@sinclair/typebox";
import { mayWorkspace } from "../../access/policy.ts";
import type { Principal, ServicePrincipal, UserPrincipal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { assertLanguage, assertMayRead, languageWarning } from "../../inference/engine-choice.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { exampleId } from "../../rest/example-values.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import { ownerGone } from "../../tenancy/accounts/credential-authenticator.ts";
import type { DeviceRecord, DeviceStore } from "../../tenancy/devices/store.ts";
import { assertLinkable } from "../../tenancy/workspaces/workshops-routes.ts";
import type { WorkshopStore } from "../../tenancy/workspaces/workshops-store.ts";
import type { SpeechEngine } from "../../wire/speech-engines.ts";
import { requireSession } from "../sessions/access.ts";
import { toCustomFields } from "../sessions/custom-fields.ts";
import { namingTheOther } from "../sessions/external-ids.ts";
import { presentSession, sessionParams, sessionSchema } from "../sessions/schema.ts";
import type { SessionRecord, SessionStore } from "../sessions/store.ts";
import {
  type ChosenWorkspace,
  lastChunkSequence,
  newSessionMembers,
  stoppedSchema,
} from "./device-sessions.ts";
import type { DeviceSessionStore, RecordingWorkspace } from "./device-sessions-store.ts";

export interface SessionStartOptions {
  directory: SessionStore;
  devices: Pick<DeviceStore, "find">;
  sessions: Pick<DeviceSessionStore, "workspace" | "start" | "stop">;
  workshops: Pick<WorkshopStore, "find">;
  engines: () => readonly SpeechEngine[];
  notifier: CommandNotifier;
}

export const newSessionBody = Type.Object(
  {
    ...newSessionMembers,
    workspace_id: Type.Optional(
      Type.String({
        description:
          "The device's or the service key's workspace by default; people say it who name no device",
      }),
    ),
    device_id: Type.Optional(
      Type.String({ description: "One of the caller's own devices, which uploads the audio" }),
    ),
    visibility: Type.Optional(
      Type.Union([Type.Literal("private"), Type.Literal("workspace")], {
        description: "`workspace`: all of its members read along. `private` by default",
      }),
    ),
  },
  {
    examples: [
      {
        title: "Interview",
        workspace_id: exampleId("workspace_id"),
        external_id: "call-2026-000117",
        tags: ["support"],
      },
    ],
  },
);

type NewSessionBody = Static<typeof newSessionBody>;

/** POST /sessions and /sessions/{id}/stop. */
export function sessionStartRoutes(options: SessionStartOptions): Route[] {
  return [createSession(options), stopSession(options)];
}

async function requireOwnDevice(
  devices: SessionStartOptions["devices"],
  caller: UserPrincipal,
  deviceId: string,
): Promise<DeviceRecord> {
  const device = isId(deviceId) ? await devices.find(deviceId) : undefined;
  if (device === undefined) {
    throw new AppError("not_found", "There is no device with this device_id.");
  }
  if (device.ownerId !== caller.id) {
    throw new AppError("forbidden", "Only who paired a device may record with it.");
  }
  if (device.status !== "paired") throw new AppError("not_paired", "This device is not paired.");
  if (device.suspended) throw ownerGone();
  return device;
}

/** Who makes a session, and who will own it. */
interface Maker {
  principal: UserPrincipal | ServicePrincipal;
  ownerId: string;
}

/** Throws 401 without a caller, 403 for a device and for a key without the scope. */
function requireMaker(caller: Principal | undefined): Maker {
  const principal = requirePrincipal(caller);
  if (principal.kind === "user") return { principal, ownerId: principal.id };
  if (principal.kind !== "service") {
    throw new AppError("forbidden", "This is for people and service keys.");
  }
  if (principal.scopes.includes("sessions:write")) return { principal, ownerId: principal.makerId };
  throw new AppError("forbidden", "This key lacks the scope sessions:write.");
}

async function chooseWorkspace(
  sessions: SessionStartOptions["sessions"],
  { principal, ownerId }: Maker,
  workspaceId: string | undefined,
): Promise<ChosenWorkspace> {
  if (workspaceId === undefined) {
    throw new AppError("invalid_body", "Say which `workspace_id`, or which `device_id`.");
  }
  const found = isId(workspaceId) ? await sessions.workspace(workspaceId, ownerId) : undefined;
  const facts = { kind: "workspace", id: workspaceId, role: roleIn(found) } as const;
  const verdict = mayWorkspace(principal, "workspace.record", facts);
  if (found === undefined || verdict === "not_found") {
    throw new AppError("not_found", "There is no workspace with this workspace_id.");
  }
  if (verdict !== "allow") {
    throw new AppError("forbidden", "You do not belong to this workspace.");
  }
  if (!found.mayRecord) {
    throw new AppError("forbidden", "The key's workspace takes no recordings any more.");
  }
  return { workspaceId, ...found };
}

function roleIn(place: RecordingWorkspace | undefined): "member" | undefined {
  return place?.isMember ? "member" : undefined;
}

function requireDevice(
  devices: SessionStartOptions["devices"],
  { principal }: Maker,
  deviceId: string,
): Promise<DeviceRecord> {
  if (principal.kind === "user") return requireOwnDevice(devices, principal, deviceId);
  const message =
    "A service key begins sessions without a device: their audio is uploaded with the key itself.";
  throw new AppError("forbidden", message);
}

/**
 * Begins a session of the caller's own, or of a service key's workspace. Throws 401 and 403 for who
 * may not, and what the route lists.
 */
export async function beginSession(
  { devices, sessions, workshops, engines, notifier, directory }: SessionStartOptions,
  caller: Principal | undefined,
  body: NewSessionBody,
): Promise<SessionRecord> {
  const maker = requireMaker(caller);
  const { principal, ownerId } = maker;
  const device =
    body.device_id === undefined ? undefined : await requireDevice(devices, maker, body.device_id);
  const own = principal.kind === "service" ? principal.workspaceId : device?.workspaceId;
  const { workspaceId, preferredLanguage, remoteEngines } = await chooseWorkspace(
    sessions,
    maker,
    body.workspace_id ?? own,
  );
  const custom = toCustomFields(body);
  const workshopId = body.workshop_id;
  if (workshopId !== undefined) await assertLinkable(workshops, workshopId, workspaceId);
  const language = body.language ?? preferredLanguage;
  assertLanguage(engines(), body.language);
  assertMayRead(engines(), { asked: body.engine, language, mayLeave: remoteEngines });
  const id = newId();
  const session = {
    id,
    jobId: newId(),
    workspaceId,
    ownerId,
    deviceId: device?.id,
    title: body.title ?? "",
    custom,
    visibility: body.visibility,
    // Programs log and pass on the id that they are answered with: it must be nobody's way in.
    guestAccess: principal.kind === "service" ? ("closed" as const) : undefined,
    language,
    engine: body.engine,
    languageWarning: languageWarning(engines(), { language, mayLeave: remoteEngines }),
    vocabulary: body.vocabulary ?? [],
    speakerChannels: body.speaker_channels,
    workshopId,
  };
  const place = { workspaceId, externalId: custom.externalId };
  const { outbox } = await namingTheOther(directory, principal, place, () =>
    sessions.start(session),
  );
  notifier.notify(outbox);
  const begun = await directory.get(id);
  if (begun === undefined) throw new AppError("not_found", "The session was deleted.");
  return begun;
}

function createSession(options: SessionStartOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions",
    id: "createSession",
    tag: "Session",
    summary: "Make a session of one's own",
    description:
      "The session records from now on and belongs to the caller. Its audio is uploaded with the key of the device that is named here (a browser is one after POST /devices), by the caller's own devices only; the device itself need not start it. Without a device it takes whole files (POST /sessions/{session_id}/uploads), or is there to invite people and guests ahead, and is ended with POST /sessions/{session_id}/stop, or by itself like that of a silent device. A service key with `sessions:write` makes sessions of its workspace, which belong to whoever made the key; guests do not get into them unless PATCH says so.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    body: { kind: "json", schema: newSessionBody },
    responses: {
      201: {
        description: "It records from now on",
        schema: sessionSchema,
        example: { status: "recording", engine: undefined, workshop_id: undefined },
      },
    },
    errors: [
      "not_found",
      "not_paired",
      "already_recording",
      "external_id_taken",
      "quota_exceeded",
      "language_unsupported",
    ],
    async handle({ principal, body }) {
      const session = await beginSession(options, principal, body);
      return { status: 201, body: presentSession(session) };
    },
    async repeat(id, { principal }) {
      const maker = requireMaker(principal);
      await requireSession(options.directory, maker.principal, id, "session.stop");
      const session = await options.directory.get(id);
      if (session === undefined) throw new AppError("not_found", "The session was deleted.");
      return { status: 201, body: presentSession(session) };
    },
  });
}

function stopSession({ directory, sessions, notifier }: SessionStartOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/stop",
    id: "stopSession",
    tag: "Session",
    summary: "End a session's recording",
    description:
      "By its owner, whichever device records it. Stopping again is answered the same. Where whole files have come that are not stored yet, it ends when they are: until then it is answered with `recording`. Chunks up to `last_chunk_sequence` (the highest seen by default) are still taken for 24 h.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: {
      kind: "json",
      optional: true,
      schema: Type.Object({ last_chunk_sequence: lastChunkSequence }),
    },
    responses: {
      200: { description: "Stopped", schema: stoppedSchema, example: { status: "processing" } },
    },
    errors: ["guest_access_closed", "conflict"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.stop"),
    async handle({ body }, { facts }) {
      const stopped = await sessions.stop({
        deviceId: undefined,
        sessionId: facts.id,
        lastSequence: body?.last_chunk_sequence,
      });
      notifier.notify(stopped.outbox);
      return {
        status: 200,
        body: { success: true, session_id: stopped.sessionId, status: stopped.status },
      };
    },
  });
}
