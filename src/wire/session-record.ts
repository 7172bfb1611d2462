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
      examples: [true],
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
    started_at: Type.String(),
    stopped_at: Type.Optional(Type.String()),
  });
}
