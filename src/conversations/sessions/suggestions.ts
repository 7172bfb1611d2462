import { type Static, Type } from "@sinclair/typebox";
import type { SessionGrant } from "./access.ts";

/** A person whose remembered voice a label sounds like. */
export interface Suggestion {
  userId: string;
  /** Absent when they gave no name. */
  displayName?: string;
  /** 0..1. */
  likelihood: number;
}

/** Port: whom the unclaimed labels of a session sound like, as far as this caller may know. */
export interface SpeakerSuggestions {
  /** By label, likeliest first; labels without any are absent. */
  for(grant: SessionGrant): Promise<ReadonlyMap<string, readonly Suggestion[]>>;
}

export const suggestionsSchema = Type.Array(
  Type.Object({
    user_id: Type.String(),
    display_name: Type.Optional(Type.String()),
    likelihood: Type.Number({
      description: "How alike the voices are, 0 to 1",
      minimum: 0,
      maximum: 1,
      examples: [0.93],
    }),
  }),
  {
    description:
      "Members of the workspace who had their voice remembered and whom this one sounds like, likeliest first. Nobody is assigned by it. The session's owner sees all, everybody else only themselves, and only members of the workspace see any",
  },
);

/** Undefined, and so left out, for none. */
export function presentSuggestions(
  suggestions: readonly Suggestion[] | undefined,
): Static<typeof suggestionsSchema> | undefined {
  return suggestions?.map(({ userId, displayName, likelihood }) => ({
    user_id: userId,
    display_name: displayName,
    likelihood: Math.round(likelihood * 100) / 100,
  }));
}
