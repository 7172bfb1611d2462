import { Type } from "@sinclair/typebox";
import { maySession } from "../../access/policy.ts";
import { AppError } from "../../base/errors.ts";
import type { Tenants } from "../../postgres/tenants.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { requireSession } from "../sessions/access.ts";
import { presentSpeaker, sessionParams } from "../sessions/schema.ts";
import type { SpeakerRecord } from "../sessions/speakers-store.ts";
import type { SessionRecord, SessionStore } from "../sessions/store.ts";
import { type MarkStore, MOST_MARKS } from "./marks/store.ts";
import type { SegmentStore } from "./segments-store.ts";
import type { WrittenNotes } from "./writing/document-parts.ts";
import { transcriptSchema } from "./writing/segment-schemas.ts";
import type { Format, TranscriptOrder } from "./writing/transcript-document.ts";
import type { TranscriptWriter } from "./writing/transcript-writer.ts";
import type { Writing } from "./writing/written-segments.ts";

export interface TranscriptOptions {
  directory: SessionStore;
  segments: Pick<SegmentStore, "asJson" | "vocabulary">;
  gaps: Pick<SegmentStore, "gaps">;
  marks: Pick<MarkStore, "list">;
  /** The newest notes of a session as its template arranges them, with what people changed of them. */
  notes: (sessionId: string) => Promise<readonly WrittenNotes[]>;
  writer: Pick<TranscriptWriter, "transcript">;
  tenants: Tenants;
}

interface WritingQuery {
  style?: Writing["style"] | undefined;
  numbers?: Writing["numbers"] | undefined;
}

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

const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  json: "application/json; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  srt: "application/x-subrip; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
  // It has no registered type of its own.
  rttm: "text/plain; charset=utf-8",
};

interface About {
  session: SessionRecord;
  speakers: readonly SpeakerRecord[];
  /** Words and phrases that the session's recogniser was told of. */
  vocabulary: readonly string[];
}

/** For people unless they are asked for raw. */
function writingOf(
  { session, speakers, vocabulary }: About,
  { style = "readable", numbers = "words" }: WritingQuery,
): Writing {
  const spoken = speakers.flatMap(({ displayName }) => displayName ?? []);
  const names = [...vocabulary, ...spoken];
  return { style, numbers, language: session.language, names };
}

/** By label; whoever has no name is told by number in files for people. */
function namesOf(speakers: readonly SpeakerRecord[], isForPeople: boolean): Map<string, string> {
  const names = new Map<string, string>();
  for (const { label, displayName, isGuest, isRemoved } of speakers) {
    if (displayName === undefined) {
      if (isForPeople) names.set(label, numbered(label));
      continue;
    }
    const guest = isRemoved ? "removed guest" : "guest";
    names.set(label, isGuest ? `${displayName} (${guest})` : displayName);
  }
  return names;
}

function numbered(label: string): string {
  return label === "UU" ? "Unknown speaker" : label.replace(/^S(?=\d+$)/, "Speaker ");
}

function headersOf(sessionId: string, format: Format): Record<string, string> {
  const type = { "content-type": MEDIA_TYPES[format] };
  if (format === "json") return type;
  return { ...type, "content-disposition": `inline; filename="transcript-${sessionId}.${format}"` };
}

async function readAbout({ directory, segments }: TranscriptOptions, id: string): Promise<About> {
  const [session, speakers, vocabulary] = await Promise.all([
    directory.get(id),
    directory.speakers(id),
    segments.vocabulary(id),
  ]);
  if (session === undefined) {
    throw new AppError("not_found", "There is no session with this id.");
  }
  return { session, speakers, vocabulary };
}

/** Reads the query before its validation, which reports errors later. */
function wantsFile(query: unknown, accept: string | undefined): boolean {
  const format = (query as { format?: unknown } | undefined)?.format;
  if (typeof format === "string") return format !== "json";
  return transcriptFormat(undefined, accept) !== "json";
}

const transcriptQuery = Type.Object({
  format: Type.Optional(
    Type.Union(
      (["json", "txt", "md", "srt", "vtt", "rttm"] as const).map((format) => Type.Literal(format)),
      {
        description: "Form of the answer; without it `Accept` decides, and without that it is JSON",
      },
    ),
  ),
  words: Type.Optional(Type.Boolean({ description: "Add each segment's words, of JSON only" })),
  style: Type.Optional(
    Type.Union([Type.Literal("readable"), Type.Literal("raw")], {
      default: "readable",
      description:
        "`readable`: English that was recorded without capitals and sentence marks gets them by rule, which may be wrong; `raw`: the words as they were recognised",
    }),
  ),
  numbers: Type.Optional(
    Type.Union([Type.Literal("words"), Type.Literal("digits")], {
      default: "words",
      description: "How numbers from ten on are written, in texts for people",
    }),
  ),
});

/** GET /sessions/{id}/transcript. */
export function transcriptRoutes(options: TranscriptOptions): Route[] {
  const transcript = defineRoute({
    method: "get",
    path: "/sessions/{session_id}/transcript",
    id: "getTranscript",
    tag: "Session",
    summary: "The whole transcript",
    description:
      "As JSON; as text with title, date, length and people above a line `[00:12] Anna: words` for each segment; as Markdown, with the times and, for whoever may read them, the notes; or as captions, SubRip or WebVTT with voice spans. Speakers have their names, those of guests with `(guest)` or `(removed guest)` behind them; without one they are `Speaker 1`, `Unknown speaker`. With `style=raw` they are labels, and nothing stands above the words. The texts for people mark words that were not heard clearly, `to [tunisia and?] back`; in JSON `text` stays plain, and `words` tells which are `unclear`. They put a question mark behind a name that is a guess, `Anna?`; JSON tells `speaker_confidence`. Words are those of the segments, with their capitals and sentence marks. English that version 1.0 recorded without marks gets them by rule, unless `style=raw`; in JSON they are in `readable_text`. What a person wrote stays as it is. Captions have at most two lines of about 42 characters and 7 s. Where two speak at once, JSON tells the other one in `also_speaking` and `overlaps`, WebVTT in a cue without words, and RTTM (`format=rttm`: who spoke when, by labels, for programs that compare or count) in a line. JSON and Markdown have the moments that people marked.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    query: transcriptQuery,
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
    errors: ["elevation_required", "payload_too_large"],
    resolve: ({ principal, params, query, headers }) =>
      requireSession(
        options.directory,
        principal,
        params.session_id,
        wantsFile(query, headers.accept) ? "session.export" : "session.content",
      ),
    async handle({ params: { session_id: id }, query, headers, signal }, grant) {
      const { segments, gaps, marks, writer, tenants } = options;
      const format = transcriptFormat(query.format, headers.accept);
      const mayReadNotes =
        maySession(grant.principal, "session.summaries", grant.facts) === "allow";
      const [found, missing, marked, tenant, notes] = await Promise.all([
        readAbout(options, id),
        gaps.gaps(id),
        marks.list(id, { limit: MOST_MARKS }),
        tenants.ofSession(id),
        format === "md" && mayReadNotes ? options.notes(id) : [],
      ]);
      const read = () => segments.asJson(id);
      const { session, speakers } = found;
      const { title, language, status, durationMs: soundEnd, startedAt } = session;
      const isForPeople = query.style !== "raw";
      const order: TranscriptOrder = {
        ...{ format, hasWords: query.words === true, gaps: missing, marks: marked, soundEnd },
        about: { session_id: id, title, language, status, speakers: speakers.map(presentSpeaker) },
        names: namesOf(speakers, isForPeople && format !== "rttm"),
        head: isForPeople ? { startedAt, notes } : undefined,
      };
      const body = await writer.transcript(tenant, read, writingOf(found, query), order, signal);
      return { status: 200, body, headers: headersOf(id, format) };
    },
  });
  return [transcript];
}
