import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { timestamp } from "../../rest/schemas.ts";
import { type FileUpload, RETENTION_HOURS, UPLOAD_STATES } from "./store.ts";

export const uploadSchema = Type.Object(
  {
    id: Type.String(),
    session_id: Type.String(),
    filename: Type.String({ examples: ["meeting.m4a"] }),
    media_type: Type.String({
      description: "As it was declared; what the file is says its content",
      examples: ["audio/mp4"],
    }),
    size: Type.Integer({ description: "Bytes", examples: [1_048_576] }),
    received: Type.Integer({ description: "Bytes that are durable", examples: [1_048_576] }),
    status: Type.Unsafe<FileUpload["state"]>({
      type: "string",
      enum: [...UPLOAD_STATES],
      description:
        "`receiving` until its last byte; `received` and `storing` until its sound is in the session; then `stored`, or `failed`",
      examples: ["stored"],
    }),
    error_code: Type.Optional(
      Type.String({ description: "Why it failed", examples: ["not_audio"] }),
    ),
    error: Type.Optional(Type.String({ description: "The same as a sentence" })),
    created_at: timestamp,
    expires_at: Type.String({
      description: `${RETENTION_HOURS} h after its last byte: an unfinished file is removed then, and of a finished one what is told here`,
    }),
  },
  { $id: "Upload" },
);

export function presentUpload(upload: FileUpload): Static<typeof uploadSchema> {
  return {
    id: upload.id,
    session_id: upload.sessionId,
    filename: upload.filename,
    media_type: upload.mediaType,
    size: upload.size,
    received: upload.received,
    status: upload.state,
    ...(upload.failureCode !== undefined && { error_code: upload.failureCode }),
    ...(upload.failure !== undefined && { error: upload.failure }),
    created_at: toTimestamp(upload.createdAt),
    expires_at: toTimestamp(upload.expiresAt),
  };
}
