import { type Static, Type } from "@sinclair/typebox";
import { mayWorkspace } from "../../access/policy.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { assertLanguage, assertMayRead, languageWarning } from "../../inference/engine-choice.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import { requireUser } from "../../rest/callers.ts";
import { exampleId } from "../../rest/example-values.ts";
import { defineRoute, PEOPLE, type Route } from "../../rest/route.ts";
import type { SpeechEngine } from "../../wire/speech-engines.ts";
import { ownerGone } from "../accounts/credential-authenticator.ts";
import type { DeviceRecord, DeviceStore } from "../devices/store.ts";
import { requireSession } from "../sessions/access.ts";
import { presentSession, sessionParams, sessionSchema } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import { assertLinkable } from "../workspaces/workshops-routes.ts";
import type { WorkshopStore } from "../workspaces/workshops-store.ts";
import {
  type ChosenWorkspace,
  lastChunkSequence,
  newSessionMembers,
  stoppedSchema,
} from "./device-sessions.ts";
import type { DeviceSessionStore } from "./device-sessions-store.ts";

interface SessionStartOptions {
  directory: SessionStore;
  devices: Pick<DeviceStore, "find">;
  sessions: Pick<DeviceSessionStore, "workspace" | "start" | "stop">;
  workshops: Pick<WorkshopStore, "find">;
  engines: () => readonly SpeechEngine[];
  notifier: CommandNotifier;
}

const newSessionBody = Type.Object(
  {
    ...newSessionMembers,
    workspace_id: Type.Optional(
      Type.String({ description: "The device's workspace unless told; required without a device" }),
    ),
    device_id: Type.Optional(
      Type.String({ description: "One of the caller's own devices, which uploads the audio" }),
    ),
  },
  {
    examples: [
      {
        title: "Interview",
        workspace_id: exampleId("workspace_id"),
        device_id: exampleId("device_id"),
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

async function chooseWorkspace(
  sessions: SessionStartOptions["sessions"],
  caller: UserPrincipal,
  workspaceId: string | undefined,
): Promise<ChosenWorkspace> {
  if (workspaceId === undefined) {
    throw new AppError("invalid_body", "Say which `workspace_id`, or which `device_id`.");
  }
  const found = isId(workspaceId) ? await sessions.workspace(workspaceId, caller.id) : undefined;
  if (found === undefined) {
    throw new AppError("not_found", "There is no workspace with this workspace_id.");
  }
  const role = found.isMember ? "member" : undefined;
  const facts = { kind: "workspace", id: workspaceId, role } as const;
  if (mayWorkspace(caller, "workspace.pair", facts) !== "allow") {
    throw new AppError("forbidden", "You do not belong to this workspace.");
  }
  return { workspaceId, ...found };
}

async function start(
  { devices, sessions, workshops, engines, notifier }: SessionStartOptions,
  caller: UserPrincipal,
  body: NewSessionBody,
): Promise<string> {
  const device =
    body.device_id === undefined
      ? undefined
      : await requireOwnDevice(devices, caller, body.device_id);
  const wanted = body.workspace_id ?? device?.workspaceId;
  const { workspaceId, preferredLanguage, remoteEngines } = await chooseWorkspace(
    sessions,
    caller,
    wanted,
  );
  const workshopId = body.workshop_id;
  if (workshopId !== undefined) await assertLinkable(workshops, workshopId, workspaceId);
  const language = body.language ?? preferredLanguage;
  assertLanguage(engines(), body.language);
  assertMayRead(engines(), { asked: body.engine, language, mayLeave: remoteEngines });
  const id = newId();
  const { outbox } = await sessions.start({
    id,
    jobId: newId(),
    workspaceId,
    ownerId: caller.id,
    deviceId: device?.id,
    title: body.title ?? "",
    language,
    engine: body.engine,
    languageWarning: languageWarning(engines(), { language, mayLeave: remoteEngines }),
    vocabulary: body.vocabulary ?? [],
    speakerChannels: body.speaker_channels,
    workshopId,
  });
  notifier.notify(outbox);
  return id;
}

function createSession(options: SessionStartOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions",
    id: "createSession",
    tag: "Session",
    summary: "Make a session of one's own",
    description:
      "The session records from now on and belongs to the caller. Its audio is uploaded with the key of the device that is named here (a browser is one after POST /devices), by the caller's own devices only; the device itself need not start it. Without a device the session takes no uploads: it is there to invite people and guests ahead, and is ended with POST /sessions/{session_id}/stop, or by itself like that of a silent device.",
    auth: ["bearer"],
    roles: PEOPLE,
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
      "quota_exceeded",
      "language_unsupported",
    ],
    async handle({ principal, body }) {
      const id = await start(options, requireUser(principal), body);
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
      "By its owner, whichever device records it. Stopping again is answered the same. Chunks up to `last_chunk_sequence` (the highest seen unless told) are still taken for 24 h.",
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
