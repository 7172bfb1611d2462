import { type TSchema, Type } from "@sinclair/typebox";

/** What a session's record tells of the engine that reads it. */
export const sessionEngine = {
  engine: Type.Optional(
    Type.String({ description: "The speech engine that reads it; absent until one does" }),
  ),
  sound_leaves: Type.Optional(
    Type.Boolean({
      description:
        "True when that engine is not local: the sound leaves this installation. Otherwise absent",
    }),
  ),
};

/** What a session tells besides its record; left out when there is nothing. */
export const sessionWarnings = {
  warnings: Type.Optional(
    Type.Array(
      Type.Object({
        warning: Type.Literal("language_unsupported", {
          description:
            "No engine may read the language that the session inherited from its workspace: its audio is kept, and is read by a redo",
        }),
        message: Type.String({
          examples: ['No engine here knows "de"; there are ones for: en. The audio is kept.'],
        }),
      }),
      {
        description: "What the caller should know; left out when there is nothing",
        examples: [
          [
            {
              warning: "language_unsupported",
              message: 'No engine here knows "de"; there are ones for: en. The audio is kept.',
            },
          ],
        ],
      },
    ),
  ),
};

/** The warnings of a session whose language cannot be read, if it cannot. */
export function warningsOf(languageWarning: string | undefined) {
  if (languageWarning === undefined) return undefined;
  return [{ warning: "language_unsupported" as const, message: languageWarning }];
}

/** Services whose transcription clients are understood. */
export const COMPAT_INTERFACES = ["openai", "deepgram"] as const;

export type CompatInterface = (typeof COMPAT_INTERFACES)[number];

/** What a session's record tells of the client that made it. */
export const sessionCompat = {
  compat: Type.Optional(
    Type.Unsafe<CompatInterface>({
      type: "string",
      enum: [...COMPAT_INTERFACES],
      description:
        "Set when a program made it with the client of another service, below /compat: of which one. Otherwise absent",
    }),
  ),
};

/** The session's record in a Snapshot. */
export function sessionRecord<S extends TSchema>(status: S) {
  return Type.Object({
    id: Type.String(),
    workspace_id: Type.String(),
    title: Type.String(),
    status,
    language: Type.String(),
    ...sessionEngine,
    ...sessionWarnings,
    started_at: Type.String(),
    stopped_at: Type.Optional(Type.String()),
  });
}
