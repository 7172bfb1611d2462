import { type TSchema, Type } from "@sinclair/typebox";
import type { ViewerFrame } from "../wire/live-frames.ts";
import { frameParser } from "./frame-parser.ts";

const SessionId = Type.String({ minLength: 1, maxLength: 128 });

/** What a viewer may send, by `type`. */
export const VIEWER_FRAME_SCHEMAS = {
  Subscribe: Type.Object({
    type: Type.Literal("Subscribe"),
    session_id: SessionId,
    from_seq: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  }),
  Unsubscribe: Type.Object({ type: Type.Literal("Unsubscribe"), session_id: SessionId }),
  KeepAlive: Type.Object({ type: Type.Literal("KeepAlive") }),
} as const satisfies Record<ViewerFrame["type"], TSchema>;

/** The frame in a text message; throws `bad_request` with what is wrong with it. */
export const parseViewerFrame = frameParser<ViewerFrame>(VIEWER_FRAME_SCHEMAS);
