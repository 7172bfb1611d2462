/** One turn of the shipped conversation: who speaks, the sentences, and the pause before it. */
export interface Line {
  readonly speaker: string;
  /** Silence between the end of the turn before and the start of this one, in milliseconds. */
  readonly pauseMs: number;
  readonly sentences: readonly string[];
}

/** Flite's voice for each speaker: two men and a woman, three accents. */
export const VOICES: Readonly<Record<string, string>> = { Anna: "slt", Ben: "rms", Alan: "awb" };

/**
 * A short planning meeting with a decision, three promises and dates, so that summaries and
 * questions have something to answer. The shipped recogniser reads all of it right.
 */
export const LINES: readonly Line[] = [
  {
    speaker: "Anna",
    pauseMs: 500,
    sentences: ["Hello everyone.", "Today we will talk about the launch of the new system."],
  },
  {
    speaker: "Ben",
    pauseMs: 600,
    sentences: ["The team completed the work on Friday.", "We did not find any big problems."],
  },
  {
    speaker: "Alan",
    pauseMs: 500,
    sentences: [
      "That is very good news.",
      "Will we be ready to open our new shop in the first week of March?",
    ],
  },
  {
    speaker: "Anna",
    pauseMs: 700,
    sentences: ["Yes, we will.", "We decided to start on Monday, the second of March."],
  },
  {
    speaker: "Ben",
    pauseMs: 450,
    sentences: ["Then I will write to all of our customers before the end of this month."],
  },
  {
    speaker: "Alan",
    pauseMs: 650,
    sentences: [
      "And I will talk to the people in New York about the price.",
      "It should stay below one hundred dollars.",
    ],
  },
  {
    speaker: "Anna",
    pauseMs: 550,
    sentences: ["We need to see the final report by Wednesday."],
  },
  {
    speaker: "Ben",
    pauseMs: 400,
    sentences: ["Yes, you will have the report on Wednesday morning."],
  },
  {
    speaker: "Alan",
    pauseMs: 600,
    sentences: ["We have made the decision.", "Thank you all for your time."],
  },
];
