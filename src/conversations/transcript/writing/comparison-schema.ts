import { Type } from "@sinclair/typebox";
import { timestamp } from "../../../rest/schemas.ts";

const side = Type.Object(
  {
    text: Type.String(),
    speakers: Type.Array(Type.String(), { description: "Labels, in order" }),
  },
  { $id: "ComparedText" },
);

const words = (description: string) => Type.Integer({ minimum: 0, description });

/** What a repeated transcription would change. */
export const comparisonSchema = Type.Object(
  {
    session_id: Type.String(),
    job_id: Type.String(),
    transcription_id: Type.String(),
    engine: Type.Optional(Type.String()),
    detected_language: Type.Optional(Type.String()),
    created_at: timestamp,
    expires_at: timestamp,
    edits_replaced: Type.Integer({
      description: "So many segments that people edited would be replaced",
    }),
    counts: Type.Object(
      {
        same: words("Words that both texts have, with the same speaker"),
        speaker_changed: words("Words that both texts have, with another speaker"),
        replaced: words("Words in whose place stands another one"),
        added: words("Words that only the candidate has"),
        removed: words("Words that only the text that stands has"),
      },
      {
        description: "Words of each fate",
        examples: [{ same: 6, speaker_changed: 0, replaced: 0, added: 0, removed: 0 }],
      },
    ),
    speakers: Type.Array(
      Type.Object({
        current: Type.String({ description: "Label in the text that stands" }),
        candidate: Type.String({ description: "Label in the new text" }),
        words: Type.Integer({ description: "Number of words", examples: [6] }),
      }),
      { description: "Which speakers' words became whose, most words first" },
    ),
    parts: Type.Array(
      Type.Object({
        kind: Type.Union(
          (["same", "speaker", "replaced", "added", "removed"] as const).map((kind) =>
            Type.Literal(kind),
          ),
        ),
        start: Type.Number({ description: "Seconds" }),
        end: Type.Number({ description: "Seconds" }),
        current: Type.Optional(side),
        candidate: Type.Optional(side),
      }),
      { description: "Both texts from beginning to end, in runs of words of the same fate" },
    ),
  },
  { $id: "TranscriptComparison" },
);
