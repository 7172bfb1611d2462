/** Entry point of the threads that write answers: see `AnswerWriter`. */
import { serveThreadCalls } from "../base/threads/thread-calls.ts";
import { segmentsOf } from "../conversations/transcript/writing/segment-row.ts";
import { writeSegments } from "../conversations/transcript/writing/written-segments.ts";
import { type AnswerForm, writeAnswer } from "./answers.ts";
import type { Transcription } from "./transcription.ts";

export interface AnswerRequest {
  /** Of `SegmentStore.asJson`. */
  json: string;
  /** Words and phrases as they are written. */
  names: readonly string[];
  about: Omit<Transcription, "segments">;
  form: AnswerForm;
}

serveThreadCalls(({ json, names, about, form }: AnswerRequest): string => {
  const heard = segmentsOf(json).filter(({ text, redacted }) => text !== "" && redacted !== true);
  const { language } = about;
  const segments = writeSegments(heard, { ...form.writing, language, names });
  return writeAnswer({ ...about, segments }, form);
});
