import { Type } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { commandIdOf } from "../../rest/idempotency.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { nameSchema } from "../../wire/names.ts";
import { requireSession } from "../sessions/access.ts";
import type { SessionCommandOptions } from "../sessions/actors.ts";
import { presentSpeaker, speakerSchema } from "../sessions/schema.ts";
import type { SpeakerNameStore } from "./speaker-names-store.ts";

interface SpeakerNameOptions extends SessionCommandOptions {
  names: SpeakerNameStore;
}

const MOST_CHARACTERS = 100;

/** PATCH /sessions/{id}/speakers/{label}. */
export function speakerNameRoutes({ directory, actors, names }: SpeakerNameOptions): Route[] {
  const name = defineRoute({
    method: "patch",
    path: "/sessions/{session_id}/speakers/{label}",
    id: "nameSpeaker",
    tag: "Session",
    throughActor: true,
    summary: "Call a speaker by a free name",
    description:
      "By the session's owner and moderators of its workspace, for voices that nobody claims. A claim outranks it. When labels are merged, the name stays with the one that survives.",
    auth: ["bearer", "service_key"],
    params: Type.Object({
      session_id: Type.String(),
      label: Type.String({ description: "Label of the voice: `S1`, `S2`, …", examples: ["S1"] }),
    }),
    body: {
      kind: "json",
      schema: Type.Object({
        // One schema of two types, as a refusal cannot say what is wrong with a union.
        display_name: Type.Unsafe<string | null>({
          ...nameSchema({ maxLength: MOST_CHARACTERS }),
          type: ["string", "null"],
          description: "null or an empty text takes the name away",
          examples: ["The chair"],
        }),
      }),
    },
    responses: {
      200: {
        description: "The speaker as it stands",
        schema: speakerSchema,
        // Nobody claims it: a claim's name would outrank the free one.
        example: { claimed_user_id: undefined, source: undefined, free_name: "The chair" },
      },
    },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.name"),
    async handle(request, { principal }) {
      const { session_id: sessionId, label } = request.params;
      const displayName = request.body.display_name ?? "";
      const byUserId = principal.id;
      const nameId = displayName === "" ? "" : newId();
      if (nameId !== "") {
        const isKnown = await names.put({ id: nameId, sessionId, displayName, byUserId });
        if (!isKnown) throw new AppError("not_found", "There is no session with this id.");
      }
      const command = { type: "NameSpeaker" as const, label, nameId, byUserId };
      const named = await actors.ask(sessionId, command, commandIdOf(request));
      const { label: survivor } = named as { label: string };
      const speakers = await directory.speakers(sessionId);
      const speaker = speakers.find((each) => each.label === survivor);
      if (speaker !== undefined) return { status: 200, body: presentSpeaker(speaker) };
      // Nothing was said under this label yet, or all of it was given to others.
      return {
        status: 200,
        body: { speaker_label: survivor, segment_count: 0, speaking_ms: 0 },
      };
    },
  });
  return [name];
}
