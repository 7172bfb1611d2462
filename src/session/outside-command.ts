import type { SessionCommand } from "./command.ts";

type Outside = Extract<
  SessionCommand,
  {
    type:
      | "Start"
      | "ChunkStored"
      | "AudioOpened"
      | "Stop"
      | "Wake"
      | "Claim"
      | "Unclaim"
      | "Redo"
      | "CancelRedo"
      | "EditSegment"
      | "MergeSpeakers"
      | "Redact"
      | "SummaryStored"
      | "ConcernStored";
  }
>;

type Shape = Record<string, "string" | "number" | "boolean">;

const SHAPES: { [T in Outside["type"]]: Shape } = {
  Start: { jobId: "string", language: "string" },
  ChunkStored: { chunkId: "string", sequence: "number", frames: "number", sampleRate: "number" },
  AudioOpened: { sequence: "number" },
  Stop: { lastSequence: "number" },
  Wake: {},
  Claim: {
    label: "string",
    source: "string",
    claimedUserId: "string",
    byUserId: "string",
    byOwner: "boolean",
  },
  Unclaim: { label: "string", byUserId: "string", byOwner: "boolean" },
  Redo: { byUserId: "string" },
  CancelRedo: { byUserId: "string" },
  EditSegment: { segmentId: "string", editId: "string", label: "string", byUserId: "string" },
  MergeSpeakers: { from: "string", into: "string" },
  Redact: {
    redactionId: "string",
    from: "number",
    to: "number",
    label: "string",
    byUserId: "string",
  },
  SummaryStored: { jobId: "string", summaryType: "string" },
  ConcernStored: { concernId: "string" },
};

/**
 * The wishes of people and the news of jobs, each of which counts once. The others are known again
 * by what they name.
 */
const COUNT_ONCE: ReadonlySet<SessionCommand["type"]> = new Set([
  "Claim",
  "Unclaim",
  "Redo",
  "CancelRedo",
  "EditSegment",
  "MergeSpeakers",
  "Redact",
  "SummaryStored",
  "ConcernStored",
]);

/** True when the session may be told it again, however late. */
export function isRepeatable({ type }: SessionCommand): boolean {
  return !COUNT_ONCE.has(type);
}

/** A command as others may send it, or undefined: what effects tell is never taken from outside. */
export function tryOutsideCommand(value: Record<string, unknown>): Outside | undefined {
  const shape = SHAPES[value.type as Outside["type"]];
  if (shape === undefined) return undefined;
  const fits = Object.entries(shape).every(([name, type]) => typeof value[name] === type);
  return fits ? (value as unknown as Outside) : undefined;
}
