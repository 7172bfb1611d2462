import { type Static, Type } from "@sinclair/typebox";
import { toSeconds } from "../../base/audio/sample-rate.ts";
import { toTimestamp } from "../../base/clock.ts";
import type { TranscriptionProgress } from "./transcription-progress-store.ts";

/** Sooner a rate says nothing, milliseconds. */
const LEAST_ELAPSED_MS = 1_000;

export const transcriptionProgressSchema = Type.Object(
  {
    received_seconds: Type.Number({ description: "Audio that is stored", examples: [1_800] }),
    read_seconds: Type.Number({
      description: "Of it what was read by a recogniser",
      examples: [600],
    }),
    expected_end_at: Type.Optional(
      Type.String({
        format: "date-time",
        description:
          "When the rest will have been read, at the rate so far; absent while it records, and before anything was read",
        examples: ["2026-01-31T09:33:00.000Z"],
      }),
    ),
  },
  { $id: "ReadingProgress", description: "How far it is read; absent once it has ended" },
);

/** @param isRecording more audio may come, so that no end can be expected */
export function presentTranscriptionProgress(
  { readTo, lagMs, now, startedAt }: TranscriptionProgress,
  isRecording: boolean,
): Static<typeof transcriptionProgressSchema> {
  const read = toSeconds(readTo);
  const elapsedMs = startedAt === undefined ? 0 : now - startedAt;
  const isRated = !isRecording && read > 0 && elapsedMs >= LEAST_ELAPSED_MS;
  const leftMs = (lagMs * elapsedMs) / (read * 1_000);
  return {
    received_seconds: rounded(read + lagMs / 1_000),
    read_seconds: rounded(read),
    ...(isRated && { expected_end_at: toTimestamp(Math.round(now + leftMs)) }),
  };
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
