import { type Static, Type } from "@sinclair/typebox";
import { maySession } from "../../access/policy.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import type { Sealer } from "../../access/sealer.ts";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { Places } from "../../base/places.ts";
import type { PlacedVoices } from "../../inference/placed-voices.ts";
import { requireUser } from "../../rest/callers.ts";
import { filterId } from "../../rest/page.ts";
import { acknowledge, acknowledged, defineRoute, PEOPLE, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { WorkspaceStore } from "../workspaces/store.ts";
import type { LabelSpeech } from "./label-speech-store.ts";
import type { RememberedVoice, RememberedVoiceStore } from "./remembered-voices-store.ts";
import { voiceOwner } from "./suggester.ts";

const FORGOTTEN = "Your voice is forgotten.";

/** Speech of which a print is made: at least and at most so many seconds. */
const LEAST_SECONDS = 10;
const MOST_SECONDS = 120;
/** Voices that are made at once: each holds some 4 MB, and a worker for a second or two. */
const MOST_AT_ONCE = 4;

type VoicePlaces = Places<"person">;

interface VoiceOptions {
  directory: Pick<SessionStore, "facts">;
  workspaces: Pick<WorkspaceStore, "role">;
  remembered: RememberedVoiceStore;
  speech: Pick<LabelSpeech, "read">;
  voices: Pick<PlacedVoices, "compare">;
  sealer: Sealer;
}

const voiceSchema = Type.Object(
  {
    workspace_id: Type.String(),
    session_id: Type.String({ description: "Of whose sound it was made" }),
    label: Type.String({ description: "The speaker label there", examples: ["S1"] }),
    speech_ms: Type.Integer({ description: "Length of the speech, without its pauses" }),
    method: Type.String({ description: "Version of how voices are compared" }),
    remembered_at: timestamp,
    print: Type.Optional(
      Type.String({ description: "What is kept of the voice, base64; with `include=print` only" }),
    ),
  },
  { $id: "RememberedVoice" },
);

const voicesSchema = Type.Object(
  {
    items: Type.Array(voiceSchema),
    lapsed: Type.Array(
      Type.Object({ workspace_id: Type.String(), lapsed_at: timestamp }, { $id: "LapsedVoice" }),
      {
        description:
          "Workspaces in which a voice was remembered by a method that is gone, until a new one is given (PUT) or declined (DELETE). Nothing is kept of it",
      },
    ),
  },
  { $id: "RememberedVoiceList" },
);

/** PUT, GET and DELETE /users/me/voice, and the places of those that are being remembered. */
export function voiceRoutes(options: VoiceOptions): { routes: Route[]; places: VoicePlaces } {
  const places = new Places({
    what: "voices being remembered",
    capacity: MOST_AT_ONCE,
    shares: { person: 1 },
  });
  const routes = [rememberVoice(options, places), listVoices(options), forgetVoice(options)];
  return { routes, places };
}

function rememberVoice(options: VoiceOptions, places: VoicePlaces): Route {
  return defineRoute({
    method: "put",
    path: "/users/me/voice",
    id: "rememberVoice",
    tag: "Session",
    summary: "Have one's own voice remembered in a workspace",
    description:
      "With consent, of a label that the caller has claimed in a session of the workspace and may read: at least 10 s of speech. From then on whoever may claim or assign speakers in the workspace's sessions is told when a voice sounds like it, and how likely it is; nobody is assigned by that. The print replaces the one before. It is kept encrypted until it is deleted, the claim is taken back or overridden, or the person leaves the workspace.",
    auth: ["bearer"],
    roles: PEOPLE,
    body: {
      kind: "json",
      schema: Type.Object({
        workspace_id: Type.String(),
        session_id: Type.String(),
        label: Type.String({ pattern: "^S[1-9][0-9]{0,5}$", examples: ["S1"] }),
        consent: Type.Optional(
          Type.Unknown({
            description:
              "true: the person agrees that a print of their voice, which is biometric data, is kept for this. Anything else is refused",
            examples: [true],
          }),
        ),
      }),
    },
    responses: { 200: { description: "What is remembered now", schema: voiceSchema } },
    errors: ["not_found", "conflict"],
    async handle({ principal, body }) {
      const caller = requireUser(principal);
      if (body.consent !== true) {
        throw new AppError(
          "invalid_body",
          "Send `consent: true` if you agree that a print of your voice, which is biometric data, is kept in this workspace to suggest your name for voices like it. You can delete it at any time.",
        );
      }
      const place = places.enter();
      try {
        place.claim("person", caller.id);
        const voice = await remember(options, caller, body);
        return { status: 200, body: present(voice) };
      } finally {
        place.leave();
      }
    },
  });
}

interface Wanted {
  workspace_id: string;
  session_id: string;
  label: string;
}

async function remember(
  { directory, workspaces, remembered, speech, voices, sealer }: VoiceOptions,
  caller: UserPrincipal,
  { workspace_id: workspaceId, session_id: sessionId, label }: Wanted,
): Promise<RememberedVoice> {
  const role = isId(workspaceId) ? await workspaces.role(workspaceId, caller.id) : undefined;
  if (role === undefined) throw unknownThing("workspace", workspaceId);
  const facts = isId(sessionId) ? await directory.facts(caller, sessionId) : undefined;
  const actions = ["session.claim", "session.content"] as const;
  const mayRead =
    facts?.workspaceId === workspaceId &&
    actions.every((action) => maySession(caller, action, facts) === "allow");
  if (!mayRead) throw unknownThing("session", sessionId);
  if (!(await remembered.hasClaimed(caller.id, sessionId, label))) throw notClaimed(label);
  const pcm = await speech.read(sessionId, label, MOST_SECONDS * SESSION_RATE);
  assertEnough(label, pcm.length / (2 * SESSION_RATE));
  const { method, print, speechMs } = await voices.compare(pcm, []);
  assertEnough(label, speechMs / 1_000);
  const sealed = sealer.seal(voiceOwner(workspaceId, caller.id), print);
  const voice = { workspaceId, sessionId, label, method, sealed, speechMs };
  const kept = await remembered.put(caller.id, voice);
  if (kept === undefined) throw notClaimed(label);
  return kept;
}

function notClaimed(label: string): AppError {
  return new AppError(
    "conflict",
    `You have not claimed ${label} in this session. Claim it first: only your own voice is remembered.`,
  );
}

function assertEnough(label: string, seconds: number): void {
  if (seconds >= LEAST_SECONDS) return;
  throw new AppError(
    "conflict",
    `There are only ${seconds.toFixed(1)} s of speech of ${label} here; ${LEAST_SECONDS} s are needed. Choose a session in which you speak more.`,
  );
}

function listVoices({ remembered, sealer }: VoiceOptions): Route {
  return defineRoute({
    method: "get",
    path: "/users/me/voice",
    id: "listRememberedVoices",
    tag: "Session",
    summary: "What is remembered of one's own voice",
    description:
      "One entry for each workspace. With `include=print` also the prints themselves, as an export of what is kept.",
    auth: ["bearer"],
    roles: PEOPLE,
    etag: true,
    query: Type.Object({
      include: Type.Optional(
        Type.Literal("print", { description: "`print`: what is kept of each voice, too" }),
      ),
    }),
    responses: {
      200: { description: "Every remembered voice of the caller", schema: voicesSchema },
    },
    async handle({ principal, query }) {
      const caller = requireUser(principal);
      const voices = await remembered.of(caller.id);
      const items = voices.map((voice) => ({
        ...present(voice),
        ...(query.include === "print" && { print: printOf(sealer, caller.id, voice) }),
      }));
      const lapsed = (await remembered.lapsed(caller.id)).map((voice) => ({
        workspace_id: voice.workspaceId,
        lapsed_at: toTimestamp(voice.lapsedAt),
      }));
      return { status: 200, body: { items, lapsed } };
    },
  });
}

function printOf(sealer: Sealer, userId: string, voice: RememberedVoice): string {
  return sealer.open(voiceOwner(voice.workspaceId, userId), voice.sealed).toString("base64");
}

function forgetVoice({ remembered }: VoiceOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/users/me/voice",
    id: "forgetVoice",
    tag: "Session",
    summary: "Have one's own voice forgotten",
    description:
      "In one workspace, or without `workspace_id` in all. What was suggested because of it is gone at once; claims stay. Idempotent.",
    auth: ["bearer"],
    roles: PEOPLE,
    query: Type.Object({ workspace_id: Type.Optional(Type.String()) }),
    responses: { 200: acknowledged(FORGOTTEN) },
    async handle({ principal, query }) {
      const caller = requireUser(principal);
      const workspaceId = filterId("workspace_id", query.workspace_id);
      await remembered.forget(caller.id, workspaceId);
      return acknowledge(FORGOTTEN);
    },
  });
}

function present(voice: RememberedVoice): Static<typeof voiceSchema> {
  return {
    workspace_id: voice.workspaceId,
    session_id: voice.sessionId,
    label: voice.label,
    speech_ms: voice.speechMs,
    method: voice.method,
    remembered_at: toTimestamp(voice.rememberedAt),
  };
}
