import { Type } from "@sinclair/typebox";

const ALSO_SPEAKING =
  "Who else speaks within it; its words are its own speaker's. Absent where nobody else does, in interim results, and where the recogniser does not tell";
const OVERLAPS = "When those of `also_speaking` speak, in order. Absent with it";
const SEGMENT =
  "The segment that has the words of that voice next to it: when its speaker changes, so does the overlap's";

const label = (description: string) => Type.String({ description, examples: ["S2"] });
const seconds = (description: string) => Type.Number({ description: `${description}, in seconds` });
const integer = Type.Integer({ maximum: 2_147_483_647 });

/** Who else speaks within a segment, in frames of the live channel. */
export const frameOverlaps = {
  also_speaking: Type.Optional(Type.Array(label("A label"), { description: ALSO_SPEAKING })),
  overlaps: Type.Optional(
    Type.Array(
      Type.Object({
        speaker: label("Who speaks as well"),
        segment_id: Type.String({ description: SEGMENT }),
        start: seconds("From the start of the session's audio"),
        end: seconds("From the start of the session's audio"),
      }),
      { description: OVERLAPS },
    ),
  ),
};

/** The same in REST resources. */
export const resourceOverlaps = {
  also_speaking: Type.Optional(Type.Array(label("A label"), { description: ALSO_SPEAKING })),
  overlaps: Type.Optional(
    Type.Array(
      Type.Object(
        {
          speaker_label: label("Who speaks as well"),
          segment_id: Type.String({ description: SEGMENT }),
          start_ms: integer,
          end_ms: integer,
        },
        { $id: "Overlap" },
      ),
      { description: OVERLAPS },
    ),
  ),
};
