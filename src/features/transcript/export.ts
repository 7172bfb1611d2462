import { type Static, Type } from "@sinclair/typebox";
import { toMilliseconds } from "../../base/audio/sample-rate.ts";
import { AppError } from "../../base/errors.ts";
import { defineRoute, type Reply, type Route } from "../../rest/route.ts";
import { requireSession } from "../sessions/access.ts";
import { presentSpeaker, sessionParams, sessionStatus, speakerSchema } from "../sessions/schema.ts";
import type { SpeakerRecord } from "../sessions/speakers-store.ts";
import type { SessionRecord, SessionStore } from "../sessions/store.ts";
import { srtCues, toMarkdown, toSrt, toVtt, transcriptText, vttCues } from "./export-formats.ts";
import { toRttm } from "./rttm.ts";
import { heardSegmentSchema, presentHeard, presentWords, wordSchema } from "./segments.ts";
import type { GapRecord, SegmentRecord, SegmentStore } from "./segments-store.ts";
import type { TranscriptWriter } from "./transcript-writer.ts";
import type { Writing } from "./written-segments.ts";

interface TranscriptOptions {
  directory: SessionStore;
  segments: SegmentStore;
  gaps: SegmentStore;
  writer: Pick<TranscriptWriter, "write">;
}

const gapSchema = Type.Object(
  {
    chunk_sequence: Type.Integer(),
    start_ms: Type.Integer(),
    end_ms: Type.Integer(),
  },
  { $id: "TranscriptGap" },
);

const transcriptSchema = Type.Object(
  {
    session_id: Type.String(),
    title: Type.String(),
    language: Type.String(),
    status: sessionStatus,
    speakers: Type.Array(speakerSchema),
    segments: Type.Array(
      Type.Composite([
        heardSegmentSchema,
        Type.Object({
          readable_text: Type.Optional(
            Type.String({
              description:
                "The text for people: `text` with the capitals, sentence marks and, if asked, digits that were restored by rule, not recognised. Absent where that is `text` itself",
            }),
          ),
          words: Type.Optional(Type.Array(wordSchema)),
        }),
      ]),
    ),
    gaps: Type.Array(gapSchema, { examples: [[]] }),
  },
  { $id: "Transcript" },
);

interface Transcript {
  /** Words and phrases that the session's recogniser was told of. */
  vocabulary: readonly string[];
  session: SessionRecord;
  speakers: SpeakerRecord[];
  segments: SegmentRecord[];
  gaps: GapRecord[];
}

interface WritingQuery {
  style?: Writing["style"] | undefined;
  numbers?: Writing["numbers"] | undefined;
}

type Format = "json" | "txt" | "md" | "srt" | "vtt" | "rttm";

/** The format of `?format=`, else the first known one of `Accept`, else JSON. */
export function transcriptFormat(format: Format | undefined, accept: string | undefined): Format {
  if (format !== undefined) return format;
  for (const range of (accept ?? "").toLowerCase().split(",")) {
    const type = range.split(";")[0]?.trim();
    if (type === "text/plain") return "txt";
    if (type === "text/markdown") return "md";
    if (type === "application/x-subrip") return "srt";
    if (type === "text/vtt") return "vtt";
    if (type === "application/json" || type === "*/*") return "json";
  }
  return "json";
}

/** `written`: the segments as people read them, in their places. */
function presentTranscript(
  transcript: Transcript,
  written: readonly SegmentRecord[],
  hasWords: boolean,
): Static<typeof transcriptSchema> {
  const { session } = transcript;
  return {
    session_id: session.id,
    title: session.title,
    language: session.language,
    status: session.status,
    speakers: transcript.speakers.map(presentSpeaker),
    segments: transcript.segments.map((segment, place) => ({
      ...presentHeard(segment),
      ...readableOf(segment, written[place]),
      ...(hasWords ? { words: presentWords(segment.words) } : {}),
    })),
    gaps: transcript.gaps.map((gap) => ({
      chunk_sequence: gap.sequence,
      start_ms: toMilliseconds(gap.start),
      end_ms: toMilliseconds(gap.start + gap.length),
    })),
  };
}

const MEDIA_TYPES = {
  txt: "text/plain; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  srt: "application/x-subrip; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
  // It has no registered type of its own.
  rttm: "text/plain; charset=utf-8",
} as const;

function readableOf(
  segment: SegmentRecord,
  written: SegmentRecord | undefined,
): { readable_text?: string } {
  if (written === undefined || written.text === segment.text) return {};
  return { readable_text: written.text };
}

/** For people unless they are asked for raw. */
function writingOf(
  { session, speakers, vocabulary }: Transcript,
  { style = "readable", numbers = "words" }: WritingQuery,
): Writing {
  const spoken = speakers.flatMap(({ displayName }) => displayName ?? []);
  const names = [...vocabulary, ...spoken];
  return { style, numbers, language: session.language, names };
}

function exportReply(
  transcript: Transcript,
  segments: SegmentRecord[],
  format: Exclude<Format, "json">,
): Reply {
  const names = new Map<string, string>();
  for (const { label, displayName, isGuest, isRemoved } of transcript.speakers) {
    if (displayName === undefined) continue;
    const guest = isRemoved ? "removed guest" : "guest";
    names.set(label, isGuest ? `${displayName} (${guest})` : displayName);
  }
  return {
    status: 200,
    body: render({ ...transcript, segments }, format, names),
    headers: {
      "content-type": MEDIA_TYPES[format],
      "content-disposition": `inline; filename="transcript-${transcript.session.id}.${format}"`,
    },
  };
}

function render(
  { session, segments }: Transcript,
  format: Exclude<Format, "json">,
  names: ReadonlyMap<string, string>,
): string {
  switch (format) {
    case "txt":
      return transcriptText(segments, names);
    case "md":
      return toMarkdown(session.title, segments, names);
    case "srt":
      return toSrt(srtCues(segments, names, session.durationMs));
    case "vtt":
      return toVtt(vttCues(segments, names, session.durationMs));
    case "rttm":
      return toRttm(session.id, segments);
  }
}

async function readTranscript(options: TranscriptOptions, sessionId: string): Promise<Transcript> {
  const [session, speakers, segments, gaps, vocabulary] = await Promise.all([
    options.directory.get(sessionId),
    options.directory.speakers(sessionId),
    options.segments.segments(sessionId),
    options.gaps.gaps(sessionId),
    options.segments.vocabulary(sessionId),
  ]);
  if (session === undefined) {
    throw new AppError("not_found", "There is no session with this id.");
  }
  return { session, speakers, segments, gaps, vocabulary };
}

/** Reads the query before its validation, which reports errors later. */
function wantsFile(query: unknown, accept: string | undefined): boolean {
  const format = (query as { format?: unknown } | undefined)?.format;
  if (typeof format === "string") return format !== "json";
  return transcriptFormat(undefined, accept) !== "json";
}

/** GET /sessions/{id}/transcript. */
export function transcriptRoutes(options: TranscriptOptions): Route[] {
  const transcript = defineRoute({
    method: "get",
    path: "/sessions/{session_id}/transcript",
    id: "getTranscript",
    tag: "Session",
    summary: "The whole transcript",
    description:
      "As JSON; as text with a line `[00:12] S1: words` for each segment; as Markdown; or as captions, SubRip or WebVTT with voice spans. Claimed labels show their names, those of guests with `(guest)` or `(removed guest)` behind them. The texts for people mark words that were not heard clearly, `to [tunisia and?] back`; in JSON `text` stays plain, and `words` tells which are `unclear`. They put a question mark behind a name that is a guess, `S1?`; JSON tells `speaker_confidence`. Recognised English gets capitals and sentence marks in the texts for people, restored by rule, unless `style=raw`; in JSON they are in `readable_text`, and `text` stays as it was recognised. What a person wrote stays as it is. Captions have at most two lines of about 42 characters and 7 s. Where two speak at once, JSON tells the other one in `also_speaking` and `overlaps`, WebVTT in a cue without words, and RTTM (`format=rttm`: who spoke when, by labels, for programs that compare or count) in a line.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    query: Type.Object({
      format: Type.Optional(
        Type.Union(
          (["json", "txt", "md", "srt", "vtt", "rttm"] as const).map((format) =>
            Type.Literal(format),
          ),
          {
            description:
              "Form of the answer; without it `Accept` decides, and without that it is JSON",
          },
        ),
      ),
      words: Type.Optional(Type.Boolean({ description: "Add each segment's words, of JSON only" })),
      style: Type.Optional(
        Type.Union([Type.Literal("readable"), Type.Literal("raw")], {
          default: "readable",
          description:
            "`readable`: texts for people have capitals and sentence marks, which are restored by rule and may be wrong; `raw`: the words as they were recognised",
        }),
      ),
      numbers: Type.Optional(
        Type.Union([Type.Literal("words"), Type.Literal("digits")], {
          default: "words",
          description: "How numbers from ten on are written, in texts for people",
        }),
      ),
    }),
    responses: {
      200: {
        description: "The transcript so far",
        schema: transcriptSchema,
        mediaTypes: [
          "application/json",
          "text/plain",
          "text/markdown",
          "application/x-subrip",
          "text/vtt",
        ],
      },
    },
    errors: ["elevation_required"],
    resolve: ({ principal, params, query, headers }) =>
      requireSession(
        options.directory,
        principal,
        params.session_id,
        wantsFile(query, headers.accept) ? "session.export" : "session.content",
      ),
    async handle({ params, query, headers }) {
      const found = await readTranscript(options, params.session_id);
      const format = transcriptFormat(query.format, headers.accept);
      const written = await options.writer.write(found.segments, writingOf(found, query));
      if (format !== "json") return exportReply(found, written, format);
      return { status: 200, body: presentTranscript(found, written, query.words === true) };
    },
  });
  return [transcript];
}
