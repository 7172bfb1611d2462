import { CLAIM_SOURCES, STOP_REASONS } from "./status.ts";

type Check<T> = (value: unknown) => value is T;
type Fields = Readonly<Record<string, Check<unknown>>>;

/** What a command of one type holds, and how often it takes effect. */
interface Shape<F extends Fields> {
  fields: F;
  countsOnce: boolean;
}

const text = (value: unknown): value is string => typeof value === "string";
const number = (value: unknown): value is number => typeof value === "number";
const flag = (value: unknown): value is boolean => typeof value === "boolean";

function oneOf<T extends string>(values: readonly T[]): Check<T> {
  return (value): value is T => values.some((each) => each === value);
}

/** A field that may be absent. */
function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value): value is T | undefined => value === undefined || check(value);
}

/** A wish of a person or the news of a job: its outcome is remembered, so that it counts once. */
function once<F extends Fields>(fields: F): Shape<F> {
  return { fields, countsOnce: true };
}

/** The session knows it again by what it names, so it may be told as often as one likes. */
function repeatable<F extends Fields>(fields: F): Shape<F> {
  return { fields, countsOnce: false };
}

/**
 * All commands that a session takes from outside: the only list of them. Their TypeScript types are
 * derived from it. They also lie in the outbox, where those of older releases may still wait: a type
 * or a field may be added here, but none may be renamed or become required. What is not in this table
 * is refused, so a new type or a new value of a closed list is sent only when all hosts know it, or
 * when nothing is lost where one does not.
 */
const OUTSIDE = {
  Start: repeatable({ jobId: text, language: text }),
  /**
   * `frames` counts those in its container, at its own rate; `unreadable` says why it holds nothing
   * that can be read, when that is known already.
   */
  ChunkStored: repeatable({
    chunkId: text,
    sequence: number,
    frames: number,
    sampleRate: number,
    unreadable: optional(text),
  }),
  /** Audio is streamed that becomes chunk `sequence`: somebody must be there to read it. */
  AudioOpened: repeatable({ sequence: number }),
  /**
   * `lastSequence` is the highest that belongs to the session, -1 when there is none; `reason` is
   * set when the service stops it by itself.
   */
  Stop: repeatable({ lastSequence: number, reason: optional(oneOf(STOP_REASONS)) }),
  /**
   * Changes nothing. An actor that carries it out asks the record, and ends when the record no
   * longer has its session.
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
   * Answered with `{attempt, edits}`: how many edited segments it will replace. Refused with
   * `job_active` while the job runs, with `conflict` without any audio.
   */
  Redo: once({ byUserId: text }),
  /** Ends a redo; the text that stands stays. Refused with `conflict` when there is none. */
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
  /** Two labels are the same voice; the older one survives. Answered with `{from, into}`. */
  MergeSpeakers: once({ from: text, into: text }),
  /** Answered with `{segmentIds}`. Positions in samples; an empty label means everybody. */
  Redact: once({ redactionId: text, from: number, to: number, label: text, byUserId: text }),
  SummaryStored: once({ jobId: text, summaryType: text }),
  ConcernStored: once({ concernId: text }),
};

type Outside = typeof OUTSIDE;
type Checked<C> = C extends Check<infer T> ? T : never;
type OptionalKey<F> = { [K in keyof F]: undefined extends Checked<F[K]> ? K : never }[keyof F];
type Values<F> = { [K in Exclude<keyof F, OptionalKey<F>>]: Checked<F[K]> } & {
  [K in OptionalKey<F>]?: Checked<F[K]>;
};

/** A command that a session takes from outside. */
export type OutsideCommand = {
  [T in keyof Outside]: { type: T } & Values<Outside[T]["fields"]>;
}[keyof Outside];

function isOutside(type: unknown): type is keyof Outside {
  return typeof type === "string" && Object.hasOwn(OUTSIDE, type);
}

/** True when the session may be told it again, however late; so it is with all from inside. */
export function isRepeatable({ type }: { type: string }): boolean {
  return !isOutside(type) || !OUTSIDE[type].countsOnce;
}

/** A command as others may send it, or undefined: what effects tell is never taken from outside. */
export function tryOutsideCommand(value: Record<string, unknown>): OutsideCommand | undefined {
  return fits(value) ? value : undefined;
}

function fits(value: Record<string, unknown>): value is OutsideCommand {
  if (!isOutside(value.type)) return false;
  const checks = Object.entries<Check<unknown>>(OUTSIDE[value.type].fields);
  return checks.every(([name, check]) => check(value[name]));
}
