import { Type } from "@sinclair/typebox";
import { float, int32 } from "../../../rest/schemas.ts";
import { TIMES_CLAMPED } from "../../../wire/field-descriptions.ts";
import { resourceOverlaps } from "../../../wire/overlaps.ts";
import { speakerConfidence } from "../../../wire/speaker-confidence.ts";
import { sessionStatus, speakerSchema } from "../../sessions/schema.ts";

export const wordSchema = Type.Object(
  {
    word: Type.String(),
    start_ms: Type.Integer(),
    end_ms: Type.Integer(),
    confidence: Type.Number(),
    unclear: Type.Optional(
      Type.Boolean({
        description:
          "True where the recogniser is likely to have misheard: below its engine's floor of confidence. Otherwise absent, as of words that a person edited",
      }),
    ),
    times_clamped: Type.Optional(Type.Boolean({ description: TIMES_CLAMPED })),
  },
  { $id: "Word" },
);

export const segmentSchema = Type.Object(
  {
    id: Type.String(),
    start_ms: int32,
    end_ms: int32,
    speaker_label: Type.Optional(Type.String()),
    text: Type.String(),
    confidence: Type.Optional(float),
  },
  { $id: "PlainSegment" },
);

/** A segment of a transcript, with what the interface's own segment does not tell. */
export const heardSegmentSchema = Type.Composite([
  segmentSchema,
  Type.Object({
    speaker_confidence: speakerConfidence,
    ...resourceOverlaps,
  }),
]);

export const revisedSegmentSchema = Type.Composite(
  [
    heardSegmentSchema,
    Type.Object({ revision: Type.Integer(), words: Type.Optional(Type.Array(wordSchema)) }),
  ],
  { $id: "Segment" },
);

const gapSchema = Type.Object(
  {
    chunk_sequence: Type.Integer(),
    start_ms: Type.Integer(),
    end_ms: Type.Integer(),
  },
  { $id: "TranscriptGap" },
);

export const transcriptSchema = Type.Object(
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
    marks: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String(),
          at_ms: Type.Integer({ description: "On the session's timeline" }),
          text: Type.String(),
          author: Type.Optional(Type.String({ description: "Their name", examples: ["Anna"] })),
        }),
        { description: "Moments that people marked; left out where there are none" },
      ),
    ),
  },
  { $id: "Transcript" },
);
