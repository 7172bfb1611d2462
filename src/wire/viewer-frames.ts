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
  }),
  Unsubscribe: Type.Object({ type: Type.Literal("Unsubscribe"), session_id: namedSession }),
  KeepAlive: Type.Object({ type: Type.Literal("KeepAlive") }),
} as const;

type ViewerFrames = typeof VIEWER_FRAME_SCHEMAS;

/** A frame that a viewer sends. */
export type ViewerFrame = Static<ViewerFrames[keyof ViewerFrames]>;
