import { type Static, Type } from "@sinclair/typebox";
import { AppError, isAppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import type { OutboxBacklog } from "../../postgres/outbox-backlog.ts";
import type { Tenants } from "../../postgres/tenants.ts";
import { defineRoute, type Route, type Upload, type UploadContent } from "../../rest/route.ts";
import { MAX_SEQUENCE } from "../../session/limits.ts";
import type { HeartbeatWriter } from "../../tenancy/devices/heartbeats.ts";
import { cutToName } from "../../wire/names.ts";
import { requireSession, type SessionAccess } from "../sessions/access.ts";
import { chunkStatus, sessionParams } from "../sessions/schema.ts";
import { RAW_OPUS, SUPPORTED_AUDIO } from "./audio-container.ts";
import type { FileConverter } from "./audio-files/file-converter.ts";
import type { BlobStore } from "./audio-store/audio-store.ts";
import type { ChunkStore, NewChunk, StoredChunk } from "./chunk-store.ts";
import type { AudioMending } from "./integrity/audio-mending.ts";
import { sha256OfFile } from "./integrity/sha256.ts";
import { type ReadableUpload, readableUpload, refusalByHead } from "./readable-upload.ts";
import type { Sounds } from "./sounds.ts";

export interface UploadAudioOptions {
  directory: SessionAccess;
  /** Whose share of what measures and decodes files an upload takes. */
  tenants: Pick<Tenants, "ofSession">;
  chunks: ChunkStore;
  blobs: BlobStore;
  /** Measures files that are not WAV. */
  sounds: Pick<Sounds, "measure" | "starts">;
  /** Decodes files that we do not read ourselves. */
  converter: Pick<FileConverter, "convert" | "isAvailable">;
  notifier: CommandNotifier;
  mending: Pick<AudioMending, "mend">;
  /** Checked before an upload is taken. */
  backlog: Pick<OutboxBacklog, "check">;
  /** Notes the device as connected from the first byte of an upload on. */
  heartbeats?: Pick<HeartbeatWriter, "seen">;
  /** Longest decoded audio of one chunk, seconds; 900 by default. */
  maxSeconds?: number;
}

/** Most sound of one chunk, seconds. */
export const MAX_SECONDS = 15 * 60;
const MAX_FILENAME = 255;

const RFC3339 =
  /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

const storedSchema = Type.Object(
  {
    success: Type.Boolean(),
    chunk_id: Type.String(),
    chunk_sequence: Type.Integer(),
    transcription_status: chunkStatus,
    duration_seconds: Type.Optional(
      Type.Number({ description: "Absent while it is not known, of a later part of a recording" }),
    ),
  },
  { $id: "StoredChunk" },
);

const sequenceText = (description: string) =>
  Type.String({ pattern: "^[0-9]{1,6}$", description, examples: ["0"] });

const uploadHeaders = Type.Object({
  "X-Chunk-Sequence": Type.Optional(
    sequenceText("Number of the chunk within its session, from 0; required with a raw body"),
  ),
});

const uploadForm = Type.Object({
  chunk_sequence: Type.Optional(
    sequenceText(
      "Number of the chunk within its session, from 0; required, unless `X-Chunk-Sequence` says it",
    ),
  ),
  started_at: Type.Optional(
    Type.String({
      format: "date-time",
      description: "When it began by the device's clock, RFC 3339",
      examples: ["2026-01-31T09:30:00.000Z"],
    }),
  ),
});

/** Media types of raw bodies, usual ones before any. */
const UPLOAD_TYPES = [
  "audio/wav",
  "audio/pcm;rate=16000;channels=1;encoding=s16le",
  "audio/ogg",
  "audio/webm",
  "audio/mpeg",
  "audio/flac",
  "audio/mp4",
  "application/octet-stream",
];

function presentStored(chunk: StoredChunk): Static<typeof storedSchema> {
  return {
    success: true,
    chunk_id: chunk.id,
    chunk_sequence: chunk.sequence,
    transcription_status: chunk.status,
    ...(chunk.durationSeconds > 0 && { duration_seconds: chunk.durationSeconds }),
  };
}

/** The chunk's sequence from the form, else from `X-Chunk-Sequence`. */
export function readSequence(
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): number {
  const text = (fields.chunk_sequence ?? headers["x-chunk-sequence"])?.trim();
  if (text === undefined || text === "") {
    throw new AppError(
      "invalid_body",
      "chunk_sequence is missing: send it as a form field, or as X-Chunk-Sequence with a raw body.",
    );
  }
  const sequence = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (!(sequence <= MAX_SEQUENCE)) {
    throw new AppError(
      "invalid_body",
      `chunk_sequence must be a whole number from 0 to ${MAX_SEQUENCE}.`,
    );
  }
  return sequence;
}

/** When the chunk began according to the device, Unix milliseconds. */
export function readStartedAt(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const [, day = "", minute, second = "", fraction = "", zone] = RFC3339.exec(text) ?? [];
  if (!isDay(day)) throw new AppError("invalid_body", "started_at must be an RFC 3339 time.");
  // A leap second is told as the second after it, as clocks do that know none.
  const isLeap = second === "60";
  const at = Date.parse(`${day}T${minute}:${isLeap ? "59" : second}${fraction}${zone}`);
  return isLeap ? at + 1_000 : at;
}

/** Whether the calendar has this day: others would become one of the next month. */
function isDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

function describe(
  { upload, audio }: ReadableUpload,
  place: Pick<NewChunk, "sessionId" | "sequence" | "filename" | "recordedAt">,
  maxSeconds: number,
): NewChunk {
  if (audio.durationSeconds > maxSeconds) {
    throw new AppError(
      "payload_too_large",
      `A chunk may hold ${maxSeconds} seconds of audio, this one holds ${Math.ceil(audio.durationSeconds)}. Send it in parts.`,
    );
  }
  return { id: newId(), ...place, bytes: upload.bytes, sha256: upload.sha256, ...audio };
}

/** Stores an upload as a chunk of a session. */
async function storeUpload(
  options: UploadAudioOptions,
  file: Upload,
  place: Pick<NewChunk, "sessionId" | "sequence" | "recordedAt">,
  { accountId, signal }: { accountId: string; signal: AbortSignal },
): Promise<{ chunk: StoredChunk; created: boolean }> {
  const { sounds, chunks, converter, maxSeconds = MAX_SECONDS } = options;
  const before = () => chunks.partBefore(place.sessionId, place.sequence);
  const order = { sounds, before, converter, accountId, seconds: maxSeconds, signal };
  const readable = await readableUpload(file, order);
  try {
    const filename = cutToName(file.filename, MAX_FILENAME);
    const chunk = describe(readable, { ...place, filename }, maxSeconds);
    return await saveChunk(options, chunk, readable.upload.content, readable.isDecoded);
  } finally {
    await readable.release();
  }
}

/**
 * Stores the audio before its row, so that a row never names audio that a power failure could
 * destroy. What is stored already is compared with what is on record, and mended.
 */
export async function saveChunk(
  options: Pick<UploadAudioOptions, "chunks" | "blobs" | "notifier" | "mending">,
  chunk: NewChunk,
  content: UploadContent,
  isDecoded = false,
): Promise<{ chunk: StoredChunk; created: boolean }> {
  const known = await options.chunks.find(chunk.sessionId, chunk.sequence, chunk.sha256);
  const { sessionId, sha256 } = chunk;
  const isOther = isDecoded && content.kind === "file";
  const storedSha256 = isOther ? (await sha256OfFile(content.path)).sha256 : undefined;
  const sent = { content, bytes: chunk.bytes, storedSha256: storedSha256 ?? sha256 };
  await options.mending.mend({ sessionId, sha256 }, sent, known !== undefined);
  if (known !== undefined) return { chunk: known, created: false };
  if (content.kind === "memory") await options.blobs.putBytes(sessionId, sha256, content.data);
  else await options.blobs.put(sessionId, sha256, content.path);
  try {
    const stored = await options.chunks.store(storedSha256 ? { ...chunk, storedSha256 } : chunk);
    options.notifier.notify(stored.outbox);
    return stored;
  } catch (error) {
    // The session was deleted in between, so its audio is deleted too.
    if (isAppError(error, "session_deleted")) await options.blobs.delete(chunk.sessionId);
    throw error;
  }
}

/** POST /sessions/{id}/upload-audio. */
export function uploadAudioRoutes(options: UploadAudioOptions): Route[] {
  const upload = defineRoute({
    method: "post",
    path: "/sessions/{session_id}/upload-audio",
    id: "uploadAudio",
    tag: "Session",
    summary: "Upload one chunk of audio",
    description: `Multipart with \`file\`, \`chunk_sequence\` and optionally \`started_at\`, or the raw audio with \`X-Chunk-Sequence\`. ${SUPPORTED_AUDIO} ${RAW_OPUS} The parts of a running recording (\`MediaRecorder\` with a time slice: WebM or Ogg with Opus) may each be one chunk, in order: they are one stream, whose beginning is in the first; wherever they are cut, also into parts of one byte or (where a type is named, or behind another part) of none. A part that comes before the one before it stays \`pending\`, without \`duration_seconds\`, until that came. What a file is says its content, not its name; others hear its sound in a file that the service makes, never the file itself; of what FFmpeg decodes, the sound at 16 kHz is kept. It has at most 64 MiB, where the operator set no other limit (413), and ${MAX_SECONDS / 60} min of sound. Sequences start at 0. The same bytes again for a sequence are answered 200 with the same chunk; where its stored file was lost or damaged they take its place, and its part of the text is made again. For 24 h after a key was replaced, expired or revoked, its device unpaired, or its owner disabled or gone from the workspace, it still takes chunks of sessions that the device had begun before.`,
    auth: ["device_key"],
    endedDevices: true,
    params: sessionParams,
    headers: uploadHeaders,
    body: { kind: "upload", form: uploadForm, mediaTypes: UPLOAD_TYPES },
    responses: {
      200: { description: "Was stored already", schema: storedSchema },
      201: {
        description: "Stored; it is read next",
        schema: storedSchema,
        example: { transcription_status: "pending" },
      },
    },
    errors: ["forbidden", "chunk_conflict", "session_ended", "not_audio"],
    async resolve({ principal, params }) {
      await requireSession(options.directory, principal, params.session_id, "session.upload");
      options.backlog.check(params.session_id);
    },
    refusesUpload: (head, mediaType) =>
      refusalByHead(head, mediaType, options.converter.isAvailable),
    receiving({ principal }) {
      if (principal?.kind === "device") options.heartbeats?.seen(principal.id);
    },
    async handle({ principal, params, upload: file, headers, signal }) {
      if (file === undefined) {
        throw new AppError(
          "invalid_body",
          "file is missing: send the audio as a form part or body.",
        );
      }
      const sequence = readSequence(file.fields, headers);
      const recordedAt = readStartedAt(file.fields.started_at);
      const place = { sessionId: params.session_id, sequence, recordedAt };
      const accountId = await options.tenants.ofSession(params.session_id);
      const stored = await storeUpload(options, file, place, { accountId, signal });
      if (principal?.kind === "device") options.heartbeats?.seen(principal.id);
      return { status: stored.created ? 201 : 200, body: presentStored(stored.chunk) };
    },
  });
  return [upload];
}
