import { type Static, type TObject, type TProperties, type TUnsafe, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ANNOTATION_TYPES, CLAIM_SOURCES, REVIEW_CHOICES, STOP_REASONS } from "./status.ts";

/** The fields of a command type, and whether its outcome is stored so that it takes effect once. */
interface Shape<F extends TProperties> {
  fields: TObject<F>;
  countsOnce: boolean;
}

const text = Type.String();
const number = Type.Number();
const flag = Type.Boolean();
const optional = Type.Optional;

function oneOf<T extends string>(values: readonly T[]): TUnsafe<T> {
  return Type.Unsafe<T>(Type.Union(values.map((each) => Type.Literal(each))));
}

/** A person's request or a job's result: its outcome is stored, so that it takes effect once. */
function once<F extends TProperties>(fields: F): Shape<F> {
  return { fields: Type.Object(fields), countsOnce: true };
}

/**
 * The session recognises a repetition by the command's content, so it may be sent any number of
 * times.
 */
function repeatable<F extends TProperties>(fields: F): Shape<F> {
  return { fields: Type.Object(fields), countsOnce: false };
}

/**
 * All commands that a session accepts from outside: the only list of them. Their TypeScript types
 * derive from it. They are also stored in the outbox, where commands of older releases may still
 * wait: a type or a field may be added here, but none may be renamed or become required. Commands
 * that are not in this table are refused, so a new type, or a new value of a closed list, may only
 * be sent when all hosts know it, or when nothing is lost where one does not.
 */
const OUTSIDE = {
  Start: repeatable({ jobId: text, language: text }),
  /**
   * `frames` counts the frames in the chunk's container, at its own rate; `unreadable` is set when
   * it is already known that the chunk cannot be read, and says why; `unmeasured` when its length
   * shows only with the parts before it, and then `frames` is 0.
   */
  ChunkStored: repeatable({
    chunkId: text,
    sequence: number,
    frames: number,
    sampleRate: number,
    unreadable: optional(text),
    unmeasured: optional(flag),
  }),
  /**
   * The stored file of a chunk that failed because it was damaged is whole again: its place, in
   * samples, is read again. A host of an older release drops it, and the chunk stays failed until its
   * file is looked at again.
   */
  ChunkMended: repeatable({ chunkId: text, sequence: number, start: number, length: number }),
  /**
   * Audio is being streamed that becomes chunk `sequence`; the command activates the session, so
   * that it is read.
   */
  AudioOpened: repeatable({ sequence: number }),
  /**
   * `lastSequence` is the highest that belongs to the session, -1 when there is none; `reason` is
   * set when the service stops it by itself.
   */
  Stop: repeatable({ lastSequence: number, reason: optional(oneOf(STOP_REASONS)) }),
  /**
   * Changes nothing. An actor that carries it out reads the record, and ends when its session is no
   * longer on record.
   */
  Wake: repeatable({}),
  /** Answered with `{label, source, claimedUserId}`. `byOwner`: the caller owns the session. */
  Claim: once({
    label: text,
    source: oneOf(CLAIM_SOURCES),
    claimedUserId: text,
    byUserId: text,
    byOwner: flag,
  }),
  Unclaim: once({ label: text, byUserId: text, byOwner: flag }),
  /**
   * Answered with `{label}`, the label that was named. The name waits in `speaker_names` under
   * `nameId`, which is empty to take a name away.
   */
  NameSpeaker: once({ label: text, nameId: text, byUserId: text }),
  /**
   * Answered with `{attempt, edits}`: how many edited segments it will replace. Refused with
   * `job_active` while the job runs, with `conflict` without any audio.
   */
  Redo: once({ byUserId: text }),
  /**
   * As Redo, but its result waits until a person chooses; the existing text stays until then. A
   * type of its own, because a host of an older release must not replace the text.
   */
  RedoForReview: once({ byUserId: text }),
  /**
   * Replaces the text by the waiting result of `attempt`, or drops that. Answered with
   * `{outcome, edits}`. Refused with `not_found` when it does not wait, with `conflict` when it was
   * decided otherwise.
   */
  ReviewRedo: once({ attempt: number, choice: oneOf(REVIEW_CHOICES), byUserId: text }),
  /** Cancels a redo; the existing text stays. Refused with `conflict` when there is none. */
  CancelRedo: once({ byUserId: text }),
  /**
   * Answered with `{segmentId, revision, label}`. The new text waits in `segment_edits` under
   * `editId`, which is empty when only the speaker changes; an empty label leaves the speaker. Any
   * other revision than the expected one refuses it with `precondition_failed`.
   */
  EditSegment: once({
    segmentId: text,
    editId: text,
    label: text,
    byUserId: text,
    expectedRevision: optional(number),
  }),
  /**
   * Merges two labels that are the same voice; the older one survives. Answered with `{from,
   * into}`. Without `byUserId`, as from earlier releases, it cannot be taken back.
   */
  MergeSpeakers: once({ from: text, into: text, byUserId: optional(text) }),
  /**
   * Takes the merge of `from` into `into` back. Answered with `{label, into, segments}`, how many are
   * its own again. Refused with `conflict` when `from` is no part of `into`.
   */
  UnmergeSpeakers: once({ from: text, into: text, byUserId: text }),
  /**
   * Gives segments of the speaker `from` to another one; an empty `into` means a new one. Answered
   * with `{label, skipped}`: ids of those that are not of `from` any more, which stay. Refused with
   * `conflict` when none is.
   */
  ReassignSegments: once({ segmentIds: Type.Array(text), from: text, into: text, byUserId: text }),
  /** Answered with `{segmentIds}`. Positions in samples; an empty label means all speakers. */
  Redact: once({ redactionId: text, from: number, to: number, label: text, byUserId: text }),
  /** `completesNotes`: with it all notes of an ended session are there. */
  SummaryStored: once({ jobId: text, summaryType: text, completesNotes: optional(flag) }),
  ConcernStored: once({ concernId: text }),
  /** A host of an older release drops it: then viewers see the change when they look again. */
  AnnotationStored: once({
    annotationType: oneOf(ANNOTATION_TYPES),
    annotationId: text,
    removed: optional(flag),
  }),
  GuestStored: once({ guestId: text }),
};

type Outside = typeof OUTSIDE;

/** A command that a session takes from outside. */
export type OutsideCommand = {
  [T in keyof Outside]: { type: T } & Static<Outside[T]["fields"]>;
}[keyof Outside];

function isOutside(type: unknown): type is keyof Outside {
  return typeof type === "string" && Object.hasOwn(OUTSIDE, type);
}

/** True when the command may be sent again, however late; commands from inside always may. */
export function isRepeatable({ type }: { type: string }): boolean {
  return !isOutside(type) || !OUTSIDE[type].countsOnce;
}

/**
 * Checks a command from another process. Undefined when it is none: commands of effects are never
 * accepted from outside.
 */
export function tryOutsideCommand(value: Record<string, unknown>): OutsideCommand | undefined {
  return fits(value) ? value : undefined;
}

function fits(value: Record<string, unknown>): value is OutsideCommand {
  return isOutside(value.type) && Value.Check(OUTSIDE[value.type].fields, value);
}
