import { Type } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { decodeCursor, encodeCursor } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import type { AudioVerification } from "../recording/integrity/audio-verification.ts";
import { DAMAGE_KINDS } from "../recording/integrity/file-damage.ts";

interface StoredAudioOptions {
  verification: AudioVerification;
  /** Signs the cursors. */
  cursorKey: Uint8Array;
}

/** Of one answer: a second or two of a usual disk. */
const MOST = { bytes: 256 * 1024 * 1024, ms: 5_000 };

const verifyBody = Type.Object(
  {
    session_id: Type.Optional(Type.String({ description: "This session only" })),
    cursor: Type.Optional(
      Type.String({ maxLength: 1_024, description: "`next_cursor` of the answer before" }),
    ),
  },
  { examples: [{}] },
);

const verdictSchema = Type.Object(
  {
    chunks: Type.Integer({ minimum: 0, description: "Compared in this answer" }),
    bytes: Type.Integer({ minimum: 0, description: "Of their files" }),
    total_bytes: Type.Optional(
      Type.Integer({ minimum: 0, description: "Of all there is to compare; in the first answer" }),
    ),
    damaged: Type.Array(
      Type.Object({
        session_id: Type.String(),
        chunk_sequence: Type.Integer(),
        kind: Type.Union(
          DAMAGE_KINDS.map((kind) => Type.Literal(kind)),
          {
            description:
              "`gone`: there is no file. `unreadable`: the disk does not give it. `cut`: it is shorter than what was stored. `changed`: it holds other bytes",
          },
        ),
      }),
      { description: "Chunks whose file is not what was stored, in order" },
    ),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: "Null when all was compared",
    }),
  },
  { $id: "StoredAudioVerdict" },
);

/** POST /admin/audio/verify. */
export function storedAudioRoutes({ verification, cursorKey }: StoredAudioOptions): Route[] {
  const verify = defineRoute({
    method: "post",
    path: "/admin/audio/verify",
    id: "verifyStoredAudio",
    tag: "Admin",
    summary: "Compare stored audio with its digests",
    description:
      "Reads the stored audio files and compares length and SHA-256 with what is on record, as the service does by itself in the background. What is damaged is told as it always is (completeness, health, metrics, webhooks); what is whole again, as after a restored backup, is taken back, and read again where that had failed. One answer covers 256 MiB or 5 s: send its `next_cursor` until that is null. Ids and numbers only.",
    auth: ["bearer"],
    roles: ["admin"],
    body: { kind: "json", schema: verifyBody },
    responses: { 200: { description: "What was found", schema: verdictSchema } },
    errors: ["invalid_parameter"],
    async handle({ body: { session_id: sessionId, cursor }, signal }) {
      if (sessionId !== undefined && !isId(sessionId)) {
        throw new AppError("invalid_body", "session_id must be a UUID.");
      }
      const list = `audio ${sessionId ?? ""}`;
      const [id = "", number] = cursor === undefined ? [] : decodeCursor(cursorKey, list, cursor);
      const after = cursor === undefined ? undefined : { sessionId: id, sequence: Number(number) };
      const total = cursor === undefined ? await verification.total(sessionId) : undefined;
      const found = await verification.portion({ after, sessionId, most: MOST, signal });
      const { checked, damaged, next } = found;
      return {
        status: 200,
        body: {
          chunks: checked.chunks,
          bytes: checked.bytes,
          ...(total !== undefined && { total_bytes: total }),
          damaged: damaged.map(({ sessionId: session_id, sequence: chunk_sequence, kind }) => ({
            ...{ session_id, chunk_sequence, kind },
          })),
          next_cursor: next
            ? encodeCursor(cursorKey, list, [next.sessionId, String(next.sequence)])
            : null,
        },
      };
    },
  });
  return [verify];
}
