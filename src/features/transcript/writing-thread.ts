/** Entry point of the thread that writes transcripts for people: see `TranscriptWriter`. */
import { serveThreadCalls } from "../../base/threads/thread-calls.ts";
import type { SegmentRecord } from "./segments-store.ts";
import { type Writing, writeSegments } from "./written-segments.ts";

export interface WritingRequest {
  segments: readonly SegmentRecord[];
  writing: Writing;
}

serveThreadCalls(({ segments, writing }: WritingRequest) => writeSegments(segments, writing));
