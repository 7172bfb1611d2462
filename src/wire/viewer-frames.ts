import { type Static, Type } from "@sinclair/typebox";

/** A session's id in frames. */
export const namedSession = Type.String({ minLength: 1, maxLength: 128 });

/** Schemas of a viewer's frames, by `type`. */
export const VIEWER_FRAME_SCHEMAS = {
  Subscribe: Type.Object({
    type: Type.Literal("Subscribe"),
    session_id: namedSession,
    from_seq: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          "The newest `seq` that the viewer has: what came after it is sent first, each event once. 0: every event from the beginning. Left out: a Snapshot",
        examples: [41],
      }),
    ),
    from_at: Type.Optional(
      Type.String({
        format: "date-time",
        maxLength: 40,
        description:
          "The `at` of that event, or the `seq_at` of the Snapshot: where the session has another event under this `seq`, as after a restore, a Snapshot comes instead",
        examples: ["2026-01-15T09:30:00.000Z"],
      }),
    ),
  }),
  Unsubscribe: Type.Object({ type: Type.Literal("Unsubscribe"), session_id: namedSession }),
  KeepAlive: Type.Object({ type: Type.Literal("KeepAlive") }),
} as const;

type ViewerFrames = typeof VIEWER_FRAME_SCHEMAS;

/** A frame that a viewer sends. */
export type ViewerFrame = Static<ViewerFrames[keyof ViewerFrames]>;
export type SubscribeFrame = Static<ViewerFrames["Subscribe"]>;
