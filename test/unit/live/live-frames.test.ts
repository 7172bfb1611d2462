import { describe, expect, it } from "vitest";
import { toSeconds } from "../../../src/base/audio/sample-rate.ts";
import { renderFrames } from "../../../src/live/render.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import type { SegmentWords } from "../../../src/session/write.ts";

const at = Date.UTC(2026, 0, 31, 9, 30);
const texts = new Map<string, SegmentWords>([
  [
    "g1",
    {
      words: [
        { text: "hello", start: 16_000, end: 20_001, confidence: 0.5 },
        { text: "there", start: 20_001, end: 24_000, confidence: 1 },
      ],
      text: "hello there",
      confidence: 0.75,
      revision: 2,
    },
  ],
]);
const names = new Map([
  ["u1", "Olga"],
  ["g1", "Gus"],
  ["erased", ""],
  ["n1", "The chair"],
]);

function render(event: SessionEvent) {
  const [frame] = renderFrames("s1", [{ seq: 5, at, event }], texts, names);
  const { session_id, seq, at: when, ...body } = JSON.parse(JSON.stringify(frame));
  expect({ session_id, seq, when }).toEqual({
    session_id: "s1",
    seq: 5,
    when: "2026-01-31T09:30:00.000Z",
  });
  return body;
}

describe("live frames", () => {
  it("live frames: a final segment comes with words in seconds and its label of that time", () => {
    const place = { start: 16_000, end: 24_000, label: "S3", cluster: 1, checkpoint: 0 };
    const event = { ...place, speakerConfidence: 0.4 };
    expect(render({ type: "SegmentFinalised", segmentId: "g1", ...event })).toEqual({
      type: "Results",
      segment_id: "g1",
      revision: 2,
      is_final: true,
      start: 1,
      duration: 0.5,
      transcript: "hello there",
      confidence: 0.75,
      speaker: "S3",
      speaker_confidence: 0.4,
      words: [
        { word: "hello", start: 1, end: 1.25, confidence: 0.5, speaker: "S3" },
        { word: "there", start: 1.25, end: 1.5, confidence: 1, speaker: "S3" },
      ],
    });
    const untold = render({ type: "SegmentFinalised", segmentId: "g1", ...place });
    expect(untold.speaker_confidence).toBeNull();
    expect(render({ type: "SegmentFinalised", segmentId: "gone", ...event })).toEqual({
      type: "Stub",
    });
  });

  it("live frames: chunks tell their status, a gap that it is missing", () => {
    const chunk = { chunkId: "c1", sequence: 4 };
    const place = { start: 16_000, length: 8_000 };
    const frame = { type: "ChunkStatus", chunk_id: "c1", chunk_sequence: 4 };
    const span = { start: 1, duration: 0.5 };
    expect(render({ type: "ChunkReceived", ...chunk, frames: 8_000, sampleRate: 16_000 })).toEqual({
      ...frame,
      transcription_status: "pending",
    });
    const processing = { ...frame, transcription_status: "processing", ...span };
    expect(render({ type: "ChunkPlaced", ...chunk, ...place })).toEqual(processing);
    expect(render({ type: "GapFilled", ...chunk, ...place })).toEqual(processing);
    expect(render({ type: "ChunkTranscribed", ...chunk })).toEqual({
      ...frame,
      transcription_status: "completed",
    });
    expect(render({ type: "ChunkFailed", ...chunk, code: "x", message: "cannot" })).toEqual({
      ...frame,
      transcription_status: "failed",
      message: "cannot",
    });
    expect(
      render({ type: "GapDeclared", sequence: 4, ...place, pin: 0, knownClusters: 0 }),
    ).toEqual({
      type: "ChunkStatus",
      chunk_sequence: 4,
      transcription_status: "pending",
      missing: true,
      ...span,
    });
  });

  it("live frames: sessions and jobs tell their status", () => {
    const status = (event: SessionEvent): unknown => render(event).status;
    expect(status({ type: "SessionStarted", sessionId: "s1", jobId: "j", language: "en" })).toBe(
      "recording",
    );
    expect(status({ type: "SessionStopped", lastSequence: 3 })).toBe("processing");
    expect(status({ type: "SessionCompleted" })).toBe("completed");
    const job = { jobId: "j", attempt: 1 };
    expect(
      render({
        type: "JobStarted",
        ...job,
        engine: "e",
        diarisationModelVersion: "d",
        detectedLanguage: "en",
      }),
    ).toEqual({ type: "JobStatus", job_id: "j", status: "running", progress: 0 });
    const about = { engine: "hosted", diarisationModelVersion: "d", detectedLanguage: "en" };
    expect(render({ type: "JobStarted", ...job, ...about, soundLeaves: true })).toMatchObject({
      type: "JobStatus",
      engine: "hosted",
      sound_leaves: true,
    });
    expect(
      render({ type: "JobCompleted", ...job, segmentCount: 1, speakerCount: 1, durationMs: 1 }),
    ).toEqual({ type: "JobStatus", job_id: "j", status: "completed", progress: 1 });
  });

  it("live frames: speakers are revised, claimed and given back", () => {
    const merges = [{ from: "S4", into: "S2" }];
    const revision = { segmentId: "g1", start: 0, label: "S2", cluster: 1 };
    expect(
      render({ type: "SpeakersRevised", revisions: [revision], merges, finalPass: true }),
    ).toEqual({
      type: "SpeakerRevision",
      revisions: [{ segment_id: "g1", speaker: "S2" }],
      merges,
    });
    const claim = { label: "S2", source: "self_claim", byUserId: "u1" } as const;
    expect(render({ type: "SpeakerClaimed", ...claim, claimedUserId: "u1" })).toEqual({
      type: "SpeakerClaimed",
      speaker_label: "S2",
      source: "self_claim",
      claimed_user_id: "u1",
      display_name: "Olga",
      revoked: false,
    });
    const unknown = render({ type: "SpeakerClaimed", ...claim, claimedUserId: "u2" });
    expect(unknown).not.toHaveProperty("display_name");
    expect(render({ type: "SpeakerUnclaimed", label: "S2", byUserId: "u1" })).toEqual({
      type: "SpeakerClaimed",
      speaker_label: "S2",
      revoked: true,
    });
  });

  it("live frames: a free name is told of while it stands, and that it was taken away", () => {
    const named = { type: "SpeakerNamed", label: "S2", byUserId: "u1" } as const;
    expect(render({ ...named, nameId: "n1" })).toEqual({
      type: "SpeakerNamed",
      speaker_label: "S2",
      free_name: "The chair",
    });
    expect(render({ ...named, nameId: "replaced" })).toEqual({ type: "Stub" });
    expect(render(named)).toEqual({ type: "SpeakerNamed", speaker_label: "S2" });
  });

  it("live frames: a guest is told of by name, and only counted once the name is erased", () => {
    expect(render({ type: "GuestJoined", guestId: "g1" })).toEqual({
      type: "GuestJoined",
      guest_id: "g1",
      display_name: "Gus",
    });
    for (const guestId of ["erased", "unknown"]) {
      expect(render({ type: "GuestJoined", guestId })).toEqual({ type: "Stub" });
    }
  });

  it("live frames: a mark or an action item is told of by its id, and that it is gone", () => {
    const changed = { type: "AnnotationChanged", annotationId: "a" } as const;
    expect(render({ ...changed, annotationType: "action_item" })).toEqual({
      type: "AnnotationChanged",
      ...{ annotation_type: "action_item", annotation_id: "a", removed: false },
    });
    expect(render({ ...changed, annotationType: "mark", removed: true })).toEqual({
      type: "AnnotationChanged",
      ...{ annotation_type: "mark", annotation_id: "a", removed: true },
    });
  });

  it("live frames: a replacement names what went and what came", () => {
    const added = { segmentId: "g2", start: 8_000, end: 9_000, label: "S1", cluster: 0 };
    expect(
      render({
        type: "TranscriptReplaced",
        jobId: "j",
        attempt: 1,
        from: 8_000,
        to: 24_000,
        removed: [{ segmentId: "g1", start: 16_000 }],
        added: [added],
        sequences: [1],
        editsReplaced: 1,
      }),
    ).toEqual({
      type: "TranscriptReplaced",
      job_id: "j",
      span: { start: 0.5, end: 1.5 },
      removed_segment_ids: ["g1"],
      segment_ids: ["g2"],
      edits_replaced: 1,
    });
  });

  it("live frames: times are rounded to milliseconds and touching spans touch", () => {
    expect(toSeconds(1)).toBe(0);
    expect(toSeconds(8)).toBe(0.001);
    expect(toSeconds(16_008)).toBe(1.001);
    const one = render({ type: "ChunkPlaced", chunkId: "a", sequence: 0, start: 0, length: 7 });
    const two = render({ type: "ChunkPlaced", chunkId: "b", sequence: 1, start: 7, length: 9 });
    expect(one.start + one.duration).toBe(two.start);
  });
});
