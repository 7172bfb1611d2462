import { exampleId } from "../rest/example-values.ts";
import type { ExampleInput } from "../rest/examples.ts";

const INTERIM = {
  segment_id: exampleId("interim_segment_id"),
  start: 3.4,
  duration: 0.9,
  transcript: "we have",
  words: [
    { word: "we", start: 3.4, end: 3.7, confidence: 0.91, speaker: "S1" },
    { word: "have", start: 3.7, end: 4.3, confidence: 0.78, speaker: "S1" },
  ],
  stable_words: 1,
  speaker_confidence: undefined,
};

/** What the examples of messages have otherwise than their schemas say, by the message's name. */
export const FRAME_EXAMPLES: Readonly<Record<string, ExampleInput>> = {
  Snapshot: {
    session: {
      id: exampleId("session_id"),
      workspace_id: exampleId("workspace_id"),
      title: "Weekly planning",
      status: "recording",
      language: "en",
      engine: "moonshine-tiny-en",
      started_at: "2026-01-31T09:30:00.000Z",
    },
    interim: {
      type: "Results",
      session_id: exampleId("session_id"),
      confidence: 0.85,
      speaker: "S1",
      revision: 2,
      is_final: false,
      ...INTERIM,
    },
  },
  InterimResults: { ...INTERIM, confidence: 0.85, revision: 2 },
  SegmentRevised: { revision: 2, transcript: "Let us begin with the budget." },
  SpeakerNamed: { speaker_label: "S2", free_name: "The chair" },
  ChunkStatus: { start: undefined, duration: undefined },
  JobStatus: { engine: undefined },
  JobProgress: { status: "running" },
  // All that is needed: the session begins with it, and has the workspace's language and engine.
  Configure: {
    session_id: undefined,
    title: undefined,
    language: undefined,
    engine: undefined,
    vocabulary: undefined,
    interim_results: undefined,
    transcript: undefined,
    from_seq: undefined,
  },
  Resume: { transcript: undefined, from_seq: undefined },
  Begin: { seq: 1, chunk_sequence: 0 },
  AudioAck: { chunk_sequence: 1 },
};
