import { describe, expect, it } from "vitest";
import { isRepeatable, tryOutsideCommand } from "../../../src/session/outside-command.ts";

/** As older releases sent them or wrote them into the outbox. */
const OLDER = [
  { type: "Start", jobId: "j", language: "en" },
  { type: "ChunkStored", chunkId: "c", sequence: 0, frames: 16_000, sampleRate: 16_000 },
  { type: "ChunkStored", chunkId: "c", sequence: 0, frames: 0, sampleRate: 1, unreadable: "empty" },
  { type: "AudioOpened", sequence: 4 },
  { type: "ChunkMended", chunkId: "c", sequence: 0, start: 0, length: 16_000 },
  { type: "Stop", lastSequence: -1 },
  { type: "Stop", lastSequence: 3, reason: "device_silent" },
];

const CLAIM = {
  type: "Claim",
  label: "S1",
  source: "self_claim",
  claimedUserId: "u",
  byUserId: "u",
  byOwner: false,
};

const EDIT = { type: "EditSegment", segmentId: "s", editId: "", label: "S2", byUserId: "u" };

/** Each of these takes effect once, so its outcome is remembered. */
const OLDER_WISHES = [
  CLAIM,
  { ...CLAIM, source: "moderator_assignment", byOwner: true },
  { type: "Unclaim", label: "S1", byUserId: "u", byOwner: true },
  { type: "NameSpeaker", label: "S1", nameId: "n", byUserId: "u" },
  { type: "Redo", byUserId: "u" },
  { type: "CancelRedo", byUserId: "u" },
  EDIT,
  { ...EDIT, expectedRevision: 2 },
  { type: "MergeSpeakers", from: "S2", into: "S1" },
  { type: "UnmergeSpeakers", from: "S2", into: "S1", byUserId: "u" },
  { type: "ReassignSegments", segmentIds: ["s"], from: "S2", into: "", byUserId: "u" },
  { type: "Redact", redactionId: "r", from: 0, to: 16_000, label: "", byUserId: "u" },
  { type: "SummaryStored", jobId: "j", summaryType: "brief" },
  { type: "ConcernStored", concernId: "c" },
  { type: "GuestStored", guestId: "g" },
  { type: "AnnotationStored", annotationType: "action_item", annotationId: "a" },
  { type: "AnnotationStored", annotationType: "mark", annotationId: "m", removed: true },
];

describe("commands from outside", () => {
  it("outside: what an older release sent or left in the outbox is still taken, as it is", () => {
    for (const command of OLDER) {
      expect(tryOutsideCommand(command)).toBe(command);
      expect(isRepeatable(command)).toBe(true);
    }
    for (const command of OLDER_WISHES) {
      expect(tryOutsideCommand(command)).toBe(command);
      expect(isRepeatable(command)).toBe(false);
    }
  });

  it("outside: fields that a newer release has added do not hinder", () => {
    expect(tryOutsideCommand({ type: "Start", jobId: "j", language: "en", hint: 1 })).toBeDefined();
  });

  it("outside: a field that is missing or of another kind refuses the command", () => {
    const { label: _, ...unlabelled } = CLAIM;
    for (const command of [
      unlabelled,
      { ...CLAIM, byOwner: "yes" },
      { ...CLAIM, source: "hearsay" },
      { ...EDIT, expectedRevision: "2" },
      { type: "Stop", lastSequence: "3" },
      { type: "Stop", lastSequence: 3, reason: "boredom" },
    ]) {
      expect(tryOutsideCommand(command)).toBeUndefined();
    }
  });

  it("outside: what only a session's own effects tell is refused, and so is what nobody knows", () => {
    for (const type of ["GapTimeout", "Progress", "Dance", "toString", "__proto__", 7, undefined]) {
      expect(tryOutsideCommand({ type, sequence: 0, attempt: 1, finalisedTo: 0 })).toBeUndefined();
    }
    expect(isRepeatable({ type: "GapTimeout" })).toBe(true);
  });
});
