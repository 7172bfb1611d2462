import type { SegmentRecord } from "../conversations/transcript/writing/segment-record.ts";
import type { DeepgramOrder } from "./deepgram-query.ts";

/** The words of a recording. */
export interface Transcription {
  sessionId: string;
  language: string;
  /** The engine that read it. */
  engine: string;
  durationSeconds: number;
  /** As they were asked for. */
  segments: SegmentRecord[];
  /** How many channels were read by themselves; 1 where they were mixed. */
  channels: number;
  /** The channel that each label was heard on, from 0. */
  channelOf: ReadonlyMap<string, number>;
}

/** How Deepgram's clients want the words of a recording. */
export type DeepgramForm = Pick<DeepgramOrder, "writing" | "diarize" | "paragraphs" | "utterances">;
