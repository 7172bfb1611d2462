/** Entry point of the threads that write transcripts: see `TranscriptWriter`. */
import { serveThreadCalls } from "../../../base/threads/thread-calls.ts";
import { type ComparisonOrder, writeComparison } from "./comparison-document.ts";
import { segmentsOf } from "./segment-row.ts";
import { type TranscriptOrder, writeTranscript } from "./transcript-document.ts";
import { type Writing, writeSegments } from "./written-segments.ts";

export type WritingRequest =
  | {
      kind: "transcript";
      /** Of `SegmentStore.asJson`. */
      json: string;
      writing: Writing;
      order: TranscriptOrder;
    }
  | {
      kind: "comparison";
      /** Of `CandidateStore.texts`. */
      json: string;
      order: ComparisonOrder;
    };

serveThreadCalls((request: WritingRequest): Uint8Array => Buffer.from(write(request)));

function write(request: WritingRequest): string {
  if (request.kind === "comparison") return writeComparison(request.order, request.json);
  const { json, writing, order } = request;
  const segments = segmentsOf(json);
  return writeTranscript(order, segments, writeSegments(segments, writing));
}
