import { type Static, Type } from "@sinclair/typebox";
import { AppError } from "../base/errors.ts";
import { defineRoute, type Reply, type Route } from "./route.ts";
import {
  presentSegment,
  type SegmentReader,
  type SegmentRecord,
  segmentSchema,
  toMilliseconds,
} from "./segments.ts";
import { requireSession } from "./sessions-access.ts";
import type { SessionDirectory, SessionRecord, SpeakerRecord } from "./sessions-directory.ts";
import { presentSpeaker, sessionParams, sessionStatus, speakerSchema } from "./sessions-schema.ts";
import { transcriptText } from "./transcript-text.ts";

/** Audio that did not come: its nominal span on the timeline, samples at 16 kHz. */
export interface GapRecord {
  sequence: number;
  start: number;
  length: number;
}

/** Port: spans that still stand as gaps. Throws `unavailable` when storage is away. */
export interface GapReader {
  gaps(sessionId: string): Promise<GapRecord[]>;
}

export interface TranscriptPorts {
  directory: SessionDirectory;
  segments: SegmentReader;
  gaps: GapReader;
}

const gapSchema = Type.Object({
  chunk_sequence: Type.Integer(),
  start_ms: Type.Integer(),
  end_ms: Type.Integer(),
});

const transcriptSchema = Type.Object({
  session_id: Type.String(),
  title: Type.String(),
  language: Type.String(),
  status: sessionStatus,
  speakers: Type.Array(speakerSchema),
  segments: Type.Array(segmentSchema),
  gaps: Type.Array(gapSchema),
});

interface Transcript {
  session: SessionRecord;
  speakers: SpeakerRecord[];
  segments: SegmentRecord[];
  gaps: GapRecord[];
}

type Format = "json" | "txt";

/** `?format=` decides, else the first of `Accept` that is known; JSON by default. */
export function transcriptFormat(format: Format | undefined, accept: string | undefined): Format {
  if (format !== undefined) return format;
  for (const range of (accept ?? "").toLowerCase().split(",")) {
    const type = range.split(";")[0]?.trim();
    if (type === "text/plain") return "txt";
    if (type === "application/json" || type === "*/*") return "json";
  }
  return "json";
}

function presentTranscript(transcript: Transcript): Static<typeof transcriptSchema> {
  const { session } = transcript;
  return {
    session_id: session.id,
    title: session.title,
    language: session.language,
    status: session.status,
    speakers: transcript.speakers.map(presentSpeaker),
    segments: transcript.segments.map(presentSegment),
    gaps: transcript.gaps.map((gap) => ({
      chunk_sequence: gap.sequence,
      start_ms: toMilliseconds(gap.start),
      end_ms: toMilliseconds(gap.start + gap.length),
    })),
  };
}

function textReply(transcript: Transcript): Reply {
  const names = new Map<string, string>();
  for (const { label, displayName } of transcript.speakers) {
    if (displayName !== undefined) names.set(label, displayName);
  }
  return {
    status: 200,
    body: transcriptText(transcript.segments, names),
    headers: { "content-type": "text/plain; charset=utf-8" },
  };
}

async function readTranscript(ports: TranscriptPorts, sessionId: string): Promise<Transcript> {
  const [session, speakers, segments, gaps] = await Promise.all([
    ports.directory.get(sessionId),
    ports.directory.speakers(sessionId),
    ports.segments.segments(sessionId),
    ports.gaps.gaps(sessionId),
  ]);
  if (session === undefined) {
    throw new AppError("not_found", "There is no session with this id.");
  }
  return { session, speakers, segments, gaps };
}

/** GET /sessions/{id}/transcript. */
export function transcriptRoutes(ports: TranscriptPorts): Route[] {
  const transcript = defineRoute({
    method: "get",
    path: "/sessions/{session_id}/transcript",
    id: "getTranscript",
    tag: "Session",
    summary: "The whole transcript",
    description: "As JSON, or as text with a line `[00:12] S1: words` for each segment.",
    auth: ["bearer"],
    params: sessionParams,
    query: Type.Object({
      format: Type.Optional(Type.Union([Type.Literal("json"), Type.Literal("txt")])),
    }),
    responses: {
      200: {
        description: "The transcript so far",
        schema: transcriptSchema,
        mediaTypes: ["application/json", "text/plain"],
      },
    },
    errors: [
      "invalid_parameter",
      "forbidden",
      "elevation_required",
      "guest_access_closed",
      "not_found",
    ],
    resolve: ({ principal, params }) =>
      requireSession(ports.directory, principal, params.session_id, "session.content"),
    async handle({ params, query, headers }) {
      const found = await readTranscript(ports, params.session_id);
      if (transcriptFormat(query.format, headers.accept) === "txt") return textReply(found);
      return { status: 200, body: presentTranscript(found) };
    },
  });
  return [transcript];
}
