import { describe, expect, it } from "vitest";
import { presentTranscriptionProgress } from "../../../../src/conversations/sessions/transcription-progress.ts";

const MINUTE = 60_000;
const now = Date.parse("2026-01-31T09:30:00.000Z");
/** Ten minutes of a file were read within one. */
const half = { readTo: 600 * 16_000, lagMs: 1_200_000, now, startedAt: now - MINUTE };

describe("progress of a reading", () => {
  it("progress: the end is expected at the rate so far", () => {
    expect(presentTranscriptionProgress(half, false)).toEqual({
      received_seconds: 1_800,
      read_seconds: 600,
      expected_end_at: "2026-01-31T09:32:00.000Z",
    });
  });

  it("progress: no end is expected while it records, and before anything says a rate", () => {
    expect(presentTranscriptionProgress(half, true)).not.toHaveProperty("expected_end_at");
    const fresh = { readTo: 0, lagMs: 5_000, now };
    expect(presentTranscriptionProgress(fresh, false)).toEqual({
      received_seconds: 5,
      read_seconds: 0,
    });
    const begun = { ...half, startedAt: now - 10 };
    expect(presentTranscriptionProgress(begun, false)).not.toHaveProperty("expected_end_at");
  });
});
