import { Type } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import { decodeCursor, encodeCursor } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import type { AudioMove } from "../recording/audio-store/audio-move.ts";

interface AudioMoveOptions {
  /** Absent where no audio is moved. */
  move: AudioMove | undefined;
  /** Signs the cursors. */
  cursorKey: Uint8Array;
}

/** Of one answer. */
const MOST = { bytes: 256 * 1024 * 1024, ms: 5_000 };

const moveBody = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({ description: "Counts what there is, and moves nothing" }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 1_024, description: "`next_cursor` of the answer before" }),
    ),
  },
  { examples: [{}] },
);

const movedSchema = Type.Object(
  {
    from: Type.String({ description: "Where it was kept", examples: ["/srv/voice/blobs"] }),
    to: Type.String({ description: "Where it is kept now", examples: ["s3://voice-audio"] }),
    files: Type.Integer({
      minimum: 0,
      description: "Moved in this answer; with `dry_run` those that there are",
    }),
    bytes: Type.Integer({ minimum: 0, description: "Of these files" }),
    erased: Type.Integer({
      minimum: 0,
      description: "Removed in the place of being moved, as their session was deleted",
    }),
    left: Type.Array(
      Type.Object({
        session_id: Type.String(),
        file: Type.String({
          description: "Its name, the SHA-256 of what was sent",
          examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
        }),
        why: Type.Union([Type.Literal("differs"), Type.Literal("unreadable")], {
          description:
            "`differs`: the new store has another file of its name. `unreadable`: the disk does not give it",
        }),
      }),
      { description: "Files that stay where they were" },
    ),
    empty: Type.Boolean({
      description: "There is nothing left to move: AUDIO_MOVE_FROM can be taken away",
    }),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: "Null when all was gone through",
    }),
  },
  { $id: "MovedAudio" },
);

/** POST /admin/audio/move. */
export function audioMoveRoutes({ move, cursorKey }: AudioMoveOptions): Route[] {
  const run = defineRoute({
    method: "post",
    path: "/admin/audio/move",
    id: "moveStoredAudio",
    tag: "Admin",
    summary: "Move kept audio to the store that is in use",
    description:
      "Brings audio from where it was kept (`AUDIO_MOVE_FROM`) to where it is kept now, while the service is in use: each file is copied under a name that is written once, read again and compared, and removed where it was then. What is deleted or redacted meanwhile stays so. One answer covers some 256 MiB or 5 s: send its `next_cursor` until that is null. It can be given up at any time and begun again. Ids and numbers only.",
    auth: ["bearer"],
    roles: ["admin"],
    body: { kind: "json", schema: moveBody },
    responses: { 200: { description: "What was moved", schema: movedSchema } },
    errors: ["conflict", "invalid_parameter", "storage_full", "unavailable"],
    async handle({ body: { dry_run: isDry = false, cursor }, signal }) {
      if (move === undefined) {
        throw new AppError(
          "conflict",
          "No audio is moved: name in AUDIO_MOVE_FROM where it was kept, in AUDIO_STORE or VOICE_BLOB_DIR where it is to be, and restart the service.",
        );
      }
      const [kind, sessionId = ""] =
        cursor === undefined ? [] : decodeCursor(cursorKey, "audio move", cursor);
      const after =
        kind === "files" || kind === "aside" ? ({ kind, sessionId } as const) : undefined;
      const portion = await move.portion({ after, most: MOST, isDry, signal });
      const { files, bytes, erased, left, next, isEmpty = false } = portion;
      const next_cursor = next
        ? encodeCursor(cursorKey, "audio move", [next.kind, next.sessionId])
        : null;
      return {
        status: 200,
        body: {
          ...move.addresses,
          ...{ files, bytes, erased, empty: isEmpty, next_cursor },
          left: left.map(({ sessionId: session_id, sha256: file, why }) => ({
            ...{ session_id, file, why },
          })),
        },
      };
    },
  });
  return [run];
}
