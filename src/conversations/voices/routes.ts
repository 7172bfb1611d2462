import { type Static, Type } from "@sinclair/typebox";
import type { Encryption } from "../../access/encryption.ts";
import { maySession } from "../../access/policy.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { toTimestamp } from "../../base/clock.ts";
import { ConcurrencyLimit } from "../../base/concurrency-limit.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import type { WorkerVoices } from "../../inference/worker-voices.ts";
import { requireUser } from "../../rest/callers.ts";
import { filterId } from "../../rest/page.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import type { WorkspaceStore } from "../../tenancy/workspaces/store.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { LabelSpeech } from "./label-speech-store.ts";
import type {
  ClaimProof,
  RememberedVoice,
  RememberedVoiceStore,
} from "./remembered-voices-store.ts";
import { voiceOwner } from "./suggester.ts";

const KEEP =
  "Whether the print stays when the sound that it was made of is deleted or redacted. A claim that is taken back, contested or overridden ends it in any case";
const FORGOTTEN = "Your voice is forgotten.";

/** Speech of which a print is made: at least and at most so many seconds. */
const LEAST_SECONDS = 10;
const MOST_SECONDS = 120;
/** Voices that are made at once: each holds some 4 MB, and a worker for a second or two. */
const MOST_AT_ONCE = 4;

type VoiceSlots = ConcurrencyLimit<"person">;

interface VoiceOptions {
  directory: Pick<SessionStore, "facts">;
  workspaces: Pick<WorkspaceStore, "role">;
  remembered: RememberedVoiceStore;
  speech: Pick<LabelSpeech, "read">;
  voices: Pick<WorkerVoices, "compare">;
  encryption: Encryption;
}

const voiceSchema = Type.Object(
  {
    workspace_id: Type.String(),
    session_id: Type.String({ description: "Of whose sound it was made" }),
    label: Type.String({ description: "The speaker label there", examples: ["S1"] }),
    speech_ms: Type.Integer({ description: "Length of the speech, without its pauses" }),
    method: Type.String({ description: "Version of how voices are compared" }),
    keep_after_deletion: Type.Boolean({ description: KEEP }),
    remembered_at: timestamp,
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
          "Workspaces in which a voice was remembered in a way that is not enough any more, until a new one is given (PUT) or declined (DELETE). Nothing is kept of it",
      },
    ),
  },
  { $id: "RememberedVoiceList" },
);

/** PUT, GET and DELETE /users/me/voice, and the slots of those that are being remembered. */
export function voiceRoutes(options: VoiceOptions): { routes: Route[]; slots: VoiceSlots } {
  const slots = new ConcurrencyLimit({
    what: "voices being remembered",
    capacity: MOST_AT_ONCE,
    shares: { person: 1 },
  });
  const routes = [rememberVoice(options, slots), listVoices(options), forgetVoice(options)];
  return { routes, slots };
}

function rememberVoice(options: VoiceOptions, slots: VoiceSlots): Route {
  return defineRoute({
    method: "put",
    path: "/users/me/voice",
    id: "rememberVoice",
    tag: "Session",
    summary: "Have one's own voice remembered in a workspace",
    description:
      "With consent, of a label that the caller has claimed in a session of the workspace and may read: at least 10 s of speech. A claim of one's own proves nothing: the session's owner has to have confirmed it by assigning the label to the caller, or the session is the caller's own and no other voice is told apart in it (409 otherwise). From then on whoever may claim or assign speakers in the workspace's sessions is told when a voice sounds like it, and how likely it is; nobody is assigned by that. The print replaces the one before. It is kept encrypted, and leaves the service nowhere, until it is deleted, the claim is taken back, contested or overridden, the session or the sound that it was made of is deleted or redacted (see `keep_after_deletion`), or the person leaves the workspace.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
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
        keep_after_deletion: Type.Optional(Type.Boolean({ description: KEEP, default: false })),
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
      const slot = slots.acquire();
      try {
        slot.claim("person", caller.id);
        const voice = await remember(options, caller, body);
        return { status: 200, body: present(voice) };
      } finally {
        slot.release();
      }
    },
  });
}

interface Wanted {
  workspace_id: string;
  session_id: string;
  label: string;
  keep_after_deletion?: boolean;
}

async function remember(
  { directory, workspaces, remembered, speech, voices, encryption }: VoiceOptions,
  caller: UserPrincipal,
  { workspace_id: workspaceId, session_id: sessionId, label, ...wanted }: Wanted,
): Promise<RememberedVoice> {
  const role = isId(workspaceId) ? await workspaces.role(workspaceId, caller.id) : undefined;
  if (role === undefined) throw unknownThing("workspace", workspaceId);
  const facts = isId(sessionId) ? await directory.facts(caller, sessionId) : undefined;
  const actions = ["session.claim", "session.content"] as const;
  const mayRead =
    facts?.workspaceId === workspaceId &&
    actions.every((action) => maySession(caller, action, facts) === "allow");
  if (!mayRead) throw unknownThing("session", sessionId);
  const mayRemember = (proof: ClaimProof | undefined) => assertOwnVoice(label, proof);
  mayRemember(await remembered.claimProof(caller.id, sessionId, label));
  const { pcm, spans } = await speech.read(sessionId, label, MOST_SECONDS * SESSION_RATE);
  assertEnough(label, pcm.length / (2 * SESSION_RATE));
  const { method, print, speechMs } = await voices.compare(pcm, []);
  assertEnough(label, speechMs / 1_000);
  const encrypted = encryption.encrypt(voiceOwner(workspaceId, caller.id), print);
  const keepAfterDeletion = wanted.keep_after_deletion === true;
  const made = { workspaceId, sessionId, label, method, encrypted, speechMs, keepAfterDeletion };
  const kept = await remembered.put(caller.id, { ...made, spans }, mayRemember);
  if (kept !== undefined) return kept;
  throw new AppError("conflict", `What ${label} says has changed meanwhile. Try again.`);
}

/** Throws `conflict` unless more than the person's own word says that the voice is theirs. */
function assertOwnVoice(label: string, proof: ClaimProof | undefined): void {
  const refusal = refusalOf(label, proof);
  if (refusal !== undefined) throw new AppError("conflict", refusal);
}

function refusalOf(label: string, proof: ClaimProof | undefined): string | undefined {
  if (proof === undefined) {
    return `You have not claimed ${label} in this session. Claim it first: only your own voice is remembered.`;
  }
  const { isContested, isConfirmed, isOwner, isAlone } = proof;
  if (isContested) {
    return `Somebody else has said that ${label} is theirs. Ask the session's owner to take your claim back and to assign ${label} anew.`;
  }
  if (isConfirmed || (isOwner && isAlone)) return undefined;
  if (isOwner) {
    return `Others speak in this session, and nobody but you says that ${label} is you. Record yourself alone for ${LEAST_SECONDS} s, or choose a session whose owner has assigned your voice to you.`;
  }
  return `Nobody but you says that ${label} is your voice. Ask the session's owner to confirm it by assigning ${label} to you.`;
}

function assertEnough(label: string, seconds: number): void {
  if (seconds >= LEAST_SECONDS) return;
  throw new AppError(
    "conflict",
    `There are only ${seconds.toFixed(1)} s of speech of ${label} here; ${LEAST_SECONDS} s are needed. Choose a session in which you speak more.`,
  );
}

function listVoices({ remembered }: VoiceOptions): Route {
  return defineRoute({
    method: "get",
    path: "/users/me/voice",
    id: "listRememberedVoices",
    tag: "Session",
    summary: "What is remembered of one's own voice",
    description:
      "One entry for each workspace: when, of what and how a print was made. The print itself leaves the service nowhere.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    etag: true,
    responses: {
      200: { description: "Every remembered voice of the caller", schema: voicesSchema },
    },
    async handle({ principal }) {
      const caller = requireUser(principal);
      const items = (await remembered.of(caller.id)).map(present);
      const lapsed = (await remembered.lapsed(caller.id)).map((voice) => ({
        workspace_id: voice.workspaceId,
        lapsed_at: toTimestamp(voice.lapsedAt),
      }));
      return { status: 200, body: { items, lapsed } };
    },
  });
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
    roles: HUMAN_ROLES,
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
    keep_after_deletion: voice.keepAfterDeletion,
    remembered_at: toTimestamp(voice.rememberedAt),
  };
}
