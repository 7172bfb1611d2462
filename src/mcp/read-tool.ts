import { type Static, Type } from "@sinclair/typebox";
import type { SpeakerPage } from "../conversations/sessions/schema.ts";
import type { SegmentPage } from "../conversations/transcript/segments.ts";
import { markUnclear, UNCLEAR_LEGEND, unclearIndexes } from "../wire/unclear-words.ts";
import { isUnsure } from "../wire/unsure-speakers.ts";
import { nextCursor, pageArguments } from "./list-arguments.ts";
import {
  counted,
  moreLines,
  NOTICE,
  notice,
  passageMembers,
  spokenLine,
} from "./recorded-words.ts";
import { defineTool, type ToolCaller } from "./tool.ts";

type Segment = SegmentPage["items"][number];

const MOST = 100;
const DEFAULT_SEGMENTS = 50;

const moment = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description }));

const spokenSchema = Type.Object({
  ...passageMembers,
  speaker_unsure: Type.Optional(
    Type.Boolean({ description: "True where it is a guess who speaks; else absent" }),
  ),
});

const input = Type.Object({
  session_id: Type.String(),
  from_ms: moment("Begin here on the session's timeline, milliseconds"),
  to_ms: moment("End here on the session's timeline, milliseconds"),
  from_segment_id: Type.Optional(
    Type.String({ description: "Begin with this segment, in place of `from_ms`" }),
  ),
  to_segment_id: Type.Optional(
    Type.String({ description: "End with this segment, in place of `to_ms`" }),
  ),
  ...pageArguments(MOST),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST,
      description: `How many segments; ${DEFAULT_SEGMENTS} by default, fewer where they are long`,
    }),
  ),
});

/** Reads a part of a transcript: what GET /sessions/{session_id}/segments gives, with names. */
export const readTranscript = defineTool({
  name: "read_transcript",
  title: "Read a transcript",
  description: `Reads a part of one session's transcript in order: from a time or a segment on, page by page. ${UNCLEAR_LEGEND}`,
  input,
  output: Type.Object({ notice, passages: Type.Array(spokenSchema), next_cursor: nextCursor }),
  async run(given, { call }) {
    const { session_id, limit = DEFAULT_SEGMENTS, cursor } = given;
    const params = { session_id };
    const [from_ms, to_ms] = await spanOf(given, call);
    const query = { from_ms, to_ms, limit, cursor, words: true };
    const { items, next_cursor } = await call<SegmentPage>("listSegments", { params, query });
    const speakers = await call<SpeakerPage>("listSpeakers", { params });
    const names = new Map(
      speakers.items.map(({ speaker_label, display_name }) => [speaker_label, display_name]),
    );
    const passages = items.map((segment) => presentSegment(session_id, segment, names));
    const lines = [`${counted(passages.length, "segment")}. ${NOTICE}`, ...passages.map(lineOf)];
    return {
      found: { notice: NOTICE, passages, next_cursor },
      lines: [...lines, ...moreLines(next_cursor)],
    };
  },
});

/** Where to begin and end, in milliseconds; segments are named by their ids. */
async function spanOf(
  { session_id, from_ms, to_ms, from_segment_id, to_segment_id }: Static<typeof input>,
  call: ToolCaller["call"],
): Promise<[from: number | undefined, to: number | undefined]> {
  const find = (segment_id: string) =>
    call<Segment>("getSegment", { params: { session_id, segment_id } });
  const first = from_segment_id === undefined ? undefined : await find(from_segment_id);
  const last = to_segment_id === undefined ? undefined : await find(to_segment_id);
  return [first?.start_ms ?? from_ms, last?.end_ms ?? to_ms];
}

function presentSegment(
  session_id: string,
  { id, start_ms, end_ms, speaker_label, speaker_confidence, text, words = [] }: Segment,
  names: ReadonlyMap<string, string | undefined>,
): Static<typeof spokenSchema> {
  const name = speaker_label === undefined ? undefined : names.get(speaker_label);
  const unclear = unclearIndexes(words);
  const spoken = words.map(({ word }) => word);
  return {
    ...{ session_id, segment_id: id, start_ms, end_ms },
    ...(speaker_label === undefined ? {} : { speaker_label }),
    ...(name === undefined ? {} : { speaker_name: name }),
    ...(isUnsure(speaker_confidence) ? { speaker_unsure: true } : {}),
    text: unclear.length === 0 ? text : markUnclear(spoken, unclear),
  };
}

function lineOf(passage: Static<typeof spokenSchema>): string {
  const { speaker_name, speaker_label = "Unknown speaker", speaker_unsure } = passage;
  const name = speaker_name ?? speaker_label;
  return spokenLine({ ...passage, speaker_name: speaker_unsure === true ? `${name}?` : name });
}
