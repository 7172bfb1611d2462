import { type Static, Type } from "@sinclair/typebox";

/** The states in which a session can be found. */
const STATUSES = ["recording", "processing", "completed", "failed"] as const;
const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;

const words = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: "\\S", description }));

/** The arguments by which sessions are chosen. */
export const sessionArguments = {
  workspace_id: Type.Optional(
    Type.String({ description: "Of this workspace only; a key has one workspace" }),
  ),
  speaker: words("A name, or the beginning of one"),
  from: Type.Optional(
    Type.String({
      maxLength: 40,
      description: "Not before this: a day (UTC) such as 2026-01-31, or a time in RFC 3339",
    }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: 40,
      description: "Not after this day (UTC), such as 2026-01-31, or before this time in RFC 3339",
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 20,
      description: "The sessions that have all of these tags",
    }),
  ),
  status: Type.Optional(
    Type.Unsafe<(typeof STATUSES)[number]>({
      type: "string",
      enum: [...STATUSES],
      description: "The state of the session; `completed` is one whose words are all there",
    }),
  ),
};

/** The arguments of a list that goes on by a cursor. */
export function pageArguments(most: number) {
  return {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: most, description: `How many; ${DEFAULT} by default` }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: 1_024,
        description: "`next_cursor` of the result before, with the same other arguments",
      }),
    ),
  };
}

/** How many a list gives by default. */
export const DEFAULT = 20;

export const nextCursor = Type.Union([Type.String(), Type.Null()], {
  description: "Goes on from here; null at the end",
});

const chosen = Type.Object(sessionArguments);

/** The query parameters that these arguments mean. */
export function toFilter({ tags, from, to, speaker, status }: Static<typeof chosen>) {
  return { tag: tags, from: startOf(from), to: endOf(to), speaker, status };
}

function startOf(moment: string | undefined): string | undefined {
  return moment !== undefined && DAY.test(moment) ? `${moment}T00:00:00.000Z` : moment;
}

/** A day counts as a whole. What is no day of the calendar is left to be refused. */
function endOf(moment: string | undefined): string | undefined {
  if (moment === undefined || !DAY.test(moment)) return moment;
  const start = Date.parse(moment);
  return Number.isNaN(start) ? startOf(moment) : new Date(start + DAY_MS).toISOString();
}
