import { type Static, Type } from "@sinclair/typebox";
import type { DevicePrincipal, Principal } from "../../access/principal.ts";
import { MAX_CHANNELS } from "../../base/audio/wav.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { assertLanguage, assertMayRead, languageWarning } from "../../inference/engine-choice.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { exampleId } from "../../rest/example-values.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { socketAddress } from "../../rest/socket-address.ts";
import { ownerGone } from "../../tenancy/accounts/credential-authenticator.ts";
import { assertLinkable } from "../../tenancy/workspaces/workshops-routes.ts";
import type { WorkshopStore } from "../../tenancy/workspaces/workshops-store.ts";
import { nameSchema } from "../../wire/names.ts";
import { sessionWarnings, warningsOf } from "../../wire/session-record.ts";
import { LANGUAGE_PATTERN, type SpeechEngine } from "../../wire/speech-engines.ts";
import { vocabularySchema } from "../../wire/vocabulary.ts";
import { newCustomFields, toCustomFields } from "../sessions/custom-fields.ts";
import { engineName, sessionStatus } from "../sessions/schema.ts";
import type { DeviceSessionStore, RecordingWorkspace } from "./device-sessions-store.ts";

export interface DeviceSessionOptions {
  sessions: DeviceSessionStore;
  workshops: Pick<WorkshopStore, "find">;
  engines: () => readonly SpeechEngine[];
  notifier: CommandNotifier;
  /** The public address, e.g. `https://voice.example.org`; the request's Host when absent. */
  publicUrl?: string;
}

const deviceParams = Type.Object({
  device_id: Type.String({ description: "UUID of the device" }),
});

/** Members that the caller may set when starting a session. */
export const newSessionMembers = {
  title: Type.Optional(nameSchema({ maxLength: 200 })),
  language: Type.Optional(
    Type.String({
      pattern: LANGUAGE_PATTERN,
      maxLength: 35,
      description:
        "BCP 47, or `auto` where an engine finds out what is spoken; the workspace's preferred language by default. 422 `language_unsupported` for one that no engine of this installation reads",
    }),
  ),
  ...newCustomFields,
  workspace_id: Type.Optional(Type.String()),
  engine: Type.Optional(engineName),
  vocabulary: Type.Optional(
    vocabularySchema("Words and phrases that are expected, besides those of the workspace"),
  ),
  speaker_channels: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: MAX_CHANNELS,
      description:
        "Each of this many channels of the sound is one speaker, and is read by itself: also who speaks at the same time is heard. Without it the channels are mixed, and voices are told apart",
    }),
  ),
  workshop_id: Type.Optional(
    Type.String({
      description:
        "A workshop of the session's workspace: its characters' names join the vocabulary",
    }),
  ),
};

const startBody = Type.Object(newSessionMembers, { examples: [{ title: "Weekly planning" }] });

export const lastChunkSequence = Type.Optional(
  Type.Integer({
    minimum: -1,
    maximum: 999_999,
    description:
      "Number of the last chunk that was recorded, -1 for none: chunks up to it that are missing are waited for. Without it the highest that came is the last: leave it out after a stream, whose AudioAck names the next chunk",
    examples: [2],
  }),
);

const stopBody = Type.Object({
  session_id: Type.Optional(Type.String()),
  last_chunk_sequence: lastChunkSequence,
});

export const stoppedSchema = Type.Object(
  {
    success: Type.Boolean(),
    session_id: Type.String(),
    status: sessionStatus,
  },
  { $id: "StoppedSession" },
);

/** POST /devices/{id}/session/start and /stop. */
export function deviceSessionRoutes(options: DeviceSessionOptions): Route[] {
  return [startSession(options), stopSession(options)];
}

/** Throws 404 for an unknown device, 403 for another device than the caller. */
export async function requireSelf(
  sessions: Pick<DeviceSessionStore, "deviceExists">,
  caller: Principal | undefined,
  deviceId: string,
): Promise<DevicePrincipal> {
  const principal = requirePrincipal(caller);
  if (principal.kind === "device" && principal.id === deviceId) return principal;
  if (!isId(deviceId) || !(await sessions.deviceExists(deviceId))) {
    throw unknownThing("device", deviceId);
  }
  throw new AppError("forbidden", "This key belongs to another device.");
}

export interface ChosenWorkspace
  extends Pick<RecordingWorkspace, "preferredLanguage" | "remoteEngines"> {
  workspaceId: string;
}

async function chooseWorkspace(
  sessions: DeviceSessionStore,
  device: DevicePrincipal,
  wanted: string | undefined,
): Promise<ChosenWorkspace> {
  const workspaceId = wanted ?? device.workspaceId;
  const found = isId(workspaceId)
    ? await sessions.workspace(workspaceId, device.ownerId)
    : undefined;
  if (found === undefined) {
    throw unknownThing("workspace", workspaceId);
  }
  const isOwn = workspaceId === device.workspaceId;
  // Asked here too, because the key may have been looked up some seconds ago.
  if (isOwn && !found.mayRecord) throw ownerGone();
  if (!isOwn && !found.isMember) {
    throw new AppError("forbidden", "The device's owner does not belong to this workspace.");
  }
  return { workspaceId, ...found };
}

/** The WebSocket of the device's stream. */
function streamPath(deviceId: string): string {
  return `/api/devices/${deviceId}/stream`;
}

/** Starts a session of the device. Throws `already_recording` when it has one. */
export async function startRecording(
  options: DeviceSessionOptions,
  device: DevicePrincipal,
  body: Static<typeof startBody> | undefined,
): Promise<{ id: string; startedAt: number; warning: string | undefined }> {
  const chosen = await chooseWorkspace(options.sessions, device, body?.workspace_id);
  const workshopId = body?.workshop_id;
  if (workshopId !== undefined) {
    await assertLinkable(options.workshops, workshopId, chosen.workspaceId);
  }
  const language = body?.language ?? chosen.preferredLanguage;
  const mayLeave = chosen.remoteEngines;
  assertLanguage(options.engines(), body?.language);
  assertMayRead(options.engines(), { asked: body?.engine, language, mayLeave });
  const warning = languageWarning(options.engines(), { language, mayLeave });
  const id = newId();
  const { startedAt, outbox } = await options.sessions.start({
    id,
    jobId: newId(),
    workspaceId: chosen.workspaceId,
    ownerId: device.ownerId,
    deviceId: device.id,
    title: body?.title ?? "",
    custom: toCustomFields(body ?? {}),
    language,
    engine: body?.engine,
    languageWarning: warning,
    vocabulary: body?.vocabulary ?? [],
    speakerChannels: body?.speaker_channels,
    workshopId,
  });
  options.notifier.notify(outbox);
  return { id, startedAt, warning };
}

function startSession(options: DeviceSessionOptions): Route {
  return defineRoute({
    method: "post",
    path: "/devices/{device_id}/session/start",
    id: "startDeviceSession",
    tag: "Device",
    summary: "Start recording a session",
    description:
      "With the device's key. All members are optional: the session belongs to the device's owner, in the device's workspace and its preferred language by default. A device records one session at a time: 409 `already_recording` names the one that is open. Then its audio comes over the stream at `stream_url`, in chunks (POST /sessions/{session_id}/upload-audio), or both. Or let the stream begin it: its Configure without `session_id` goes on with the open session, or starts one. What comes on the stream counts as heartbeats.",
    auth: ["device_key"],
    params: deviceParams,
    body: { kind: "json", schema: startBody, optional: true },
    responses: {
      201: {
        description: "Recording",
        schema: Type.Object({
          success: Type.Boolean(),
          session_id: Type.String(),
          started_at: timestamp,
          stream_url: Type.String({
            description: "Address of the WebSocket that takes the audio as it is recorded",
            examples: [`wss://voice.example.org/api/devices/${exampleId("device_id")}/stream`],
          }),
          ...sessionWarnings,
        }),
      },
    },
    errors: [
      "forbidden",
      "already_recording",
      "external_id_taken",
      "quota_exceeded",
      "language_unsupported",
    ],
    resolve: ({ principal, params }) => requireSelf(options.sessions, principal, params.device_id),
    async handle({ body, headers }, device) {
      const { id, startedAt, warning } = await startRecording(options, device, body);
      return {
        status: 201,
        body: {
          success: true,
          session_id: id,
          started_at: toTimestamp(startedAt),
          stream_url: socketAddress(options.publicUrl, headers, streamPath(device.id)),
          warnings: warningsOf(warning),
        },
      };
    },
  });
}

function stopSession(options: DeviceSessionOptions): Route {
  return defineRoute({
    method: "post",
    path: "/devices/{device_id}/session/stop",
    id: "stopDeviceSession",
    tag: "Device",
    summary: "Stop the session that is recording",
    description:
      "Stopping again is answered the same. Without `session_id` it is the newest one. `last_chunk_sequence` is the last chunk that the device recorded: the session waits for those up to it that are missing, see `waiting` of the session. Chunks that were stored belong to the session whatever it says: one below theirs counts as the highest of them. A key may stop what its device had begun for 24 h after its right has ended.",
    auth: ["device_key"],
    endedDevices: true,
    params: deviceParams,
    body: { kind: "json", schema: stopBody, optional: true },
    responses: {
      200: {
        description: "Stopped",
        schema: stoppedSchema,
        example: { status: "processing" },
      },
    },
    errors: ["forbidden", "conflict"],
    resolve: ({ principal, params }) => requireSelf(options.sessions, principal, params.device_id),
    async handle({ body }, device) {
      const sessionId = body?.session_id;
      if (sessionId !== undefined && !isId(sessionId)) {
        throw new AppError("not_found", "This device has no session with this session_id.");
      }
      const stopped = await options.sessions.stop({
        deviceId: device.id,
        sessionId,
        begunBefore: device.endedAt,
        lastSequence: body?.last_chunk_sequence,
      });
      options.notifier.notify(stopped.outbox);
      return {
        status: 200,
        body: { success: true, session_id: stopped.sessionId, status: stopped.status },
      };
    },
  });
}
