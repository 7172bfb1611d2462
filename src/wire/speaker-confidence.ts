import { Type } from "@sinclair/typebox";

/** `speaker_confidence` of a segment. */
export const speakerConfidence = Type.Union(
  [Type.Number({ minimum: 0, maximum: 1 }), Type.Null()],
  {
    description:
      "How likely the voice is the speaker's rather than the next likely voice's, 0 to 1; people see names below 0.6 with a question mark. Null where nobody knows: while the speaker is unknown, after a person or a revision changed the speaker or merged the label with another one, in older segments, and where the recogniser does not tell. A claim or a name of the label does not change it. Absent in interim results",
  },
);
