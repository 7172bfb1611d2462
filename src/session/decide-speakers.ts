import { AppError } from "../base/errors.ts";
import type { CommandOf } from "./command.ts";
import { candidateIds, redactCovered } from "./redact-covered.ts";
import type { SegmentMark } from "./segments.ts";
import {
  type Claim,
  type LabelState,
  labelIndex,
  labelName,
  ownLabel,
  survivingLabel,
  UNKNOWN_SPEAKER,
} from "./speakers.ts";
import type { ClaimSource } from "./status.ts";
import type { Turn } from "./turn.ts";

export interface ClaimReply {
  label: string;
  source: ClaimSource;
  claimedUserId: string;
}

function survivingNameOf(turn: Turn, label: string): { name: string; state: LabelState } {
  const name = survivingName(turn, label);
  const state = turn.state.speakers.labels[labelIndex(name)];
  if (state === undefined) throw new Error("A label that is known has a state.");
  return { name, state };
}

/**
 * Claims a speaker. An assignment by the session's owner replaces any claim; a self claim never
 * replaces another person's claim. Repeating a claim changes nothing. Throws `not_found`,
 * `forbidden` or `already_claimed`.
 */
export function decideClaim(turn: Turn, command: CommandOf<"Claim">): ClaimReply {
  const { source, claimedUserId, byUserId } = command;
  if (source === "moderator_assignment" && !command.byOwner) {
    throw new AppError("forbidden", "Only the session's owner assigns speakers to people.");
  }
  const { name, state } = survivingNameOf(turn, command.label);
  const reply: ClaimReply = { label: name, source, claimedUserId };
  if (state.claim !== undefined) {
    const same = state.claim.claimedUserId === claimedUserId;
    if (same && (state.claim.source === source || source === "self_claim")) {
      return { ...reply, source: state.claim.source };
    }
    if (source === "self_claim") {
      throw new AppError("already_claimed", `${name} is claimed by someone else already.`);
    }
  }
  turn.emit({ type: "SpeakerClaimed", label: name, source, claimedUserId, byUserId });
  return reply;
}

/** Removes a claim, for the claimant or the session's owner. Throws `not_found` or `forbidden`. */
export function decideUnclaim(turn: Turn, command: CommandOf<"Unclaim">): { label: string } {
  const { name, state } = survivingNameOf(turn, command.label);
  if (state.claim === undefined) return { label: name };
  if (!command.byOwner && state.claim.claimedUserId !== command.byUserId) {
    throw new AppError("forbidden", `${name} is claimed by someone else.`);
  }
  turn.emit({ type: "SpeakerUnclaimed", label: name, byUserId: command.byUserId });
  return { label: name };
}

/**
 * Gives a label a free name, or takes it away. A merged label's name goes to the label that
 * survived. Throws `not_found`.
 */
export function decideNaming(turn: Turn, command: CommandOf<"NameSpeaker">): { label: string } {
  const { nameId, byUserId } = command;
  const { name: label, state } = survivingNameOf(turn, command.label);
  const isCleared = nameId === "";
  if (isCleared && state.nameId === undefined) return { label };
  turn.emit({ type: "SpeakerNamed", label, ...(isCleared ? {} : { nameId }), byUserId });
  return { label };
}

/** The surviving label of `label`. Throws `not_found` for an unknown one. */
export function survivingName(turn: Turn, label: string): string {
  const { speakers } = turn.state;
  return labelName(survivingLabel(speakers, knownIndex(turn, label)));
}

function knownIndex({ state }: Turn, label: string): number {
  const index = labelIndex(label);
  if (index < 0 || index >= state.speakers.labels.length) {
    throw new AppError("not_found", `There is no speaker ${label} in this session.`);
  }
  return index;
}

/** Merges two labels. The older one survives, in whichever order they are named. */
export function decideMerge(turn: Turn, command: CommandOf<"MergeSpeakers">): object {
  const a = survivingName(turn, command.from);
  const b = survivingName(turn, command.into);
  const [into, from] = labelIndex(a) < labelIndex(b) ? [a, b] : [b, a];
  if (from !== into) {
    const { byUserId } = command;
    turn.emit({
      type: "SpeakersRevised",
      revisions: [],
      merges: [{ from, into }],
      finalPass: false,
      ...(byUserId !== undefined && { byUserId }),
    });
    redactCovered(turn);
  }
  return { from, into };
}

/**
 * Takes a merge back: the segments that the label had, and those that its voice has got since, are
 * its own again; so are its claim and its free name, unless somebody has changed what became of them.
 * Segments whose speaker a person has chosen since stay. Throws `not_found` or `conflict`.
 */
export function decideUnmerge(turn: Turn, { from, into, byUserId }: CommandOf<"UnmergeSpeakers">) {
  const { state } = turn;
  const { speakers, segments } = state;
  const index = knownIndex(turn, from);
  const target = knownIndex(turn, into);
  const label = speakers.labels[index];
  if (label?.mergedInto !== target) {
    throw new AppError("conflict", `${from} is not a part of ${into} any more.`);
  }
  const { before } = label;
  const around = labelName(survivingLabel(speakers, target));
  const remaining = speakers.labels[labelIndex(around)];
  const isOwn = (mark: SegmentMark) =>
    mark.label === around && survivesIn(turn, ownLabel(speakers, mark), index);
  const own = segments.filter(isOwn);
  const claim = before?.claim?.is;
  const isClaimBack = claim !== undefined && isUnchanged(before?.claim?.given, remaining, claim);
  const isMoved = isClaimBack && before?.claim?.given === true;
  turn.emit({
    type: "SpeakersUnmerged",
    label: from,
    into: around,
    segments: own.map(({ id, start }) => ({ segmentId: id, start })),
    ...candidateIds(state, isOwn),
    ...(isMoved && { claimedUserId: claim.claimedUserId }),
    byUserId,
  });
  if (isClaimBack) {
    turn.emit({ type: "SpeakerClaimed", label: from, ...claim });
    if (isMoved) turn.emit({ type: "SpeakerUnclaimed", label: around, byUserId });
  }
  giveNameBack(turn, { from, around, byUserId }, before?.name);
  redactCovered(turn);
  return { label: from, into: around, segments: own.length };
}

/** True when the label leads to that of `index` by the merges that stand. */
function survivesIn({ state }: Turn, label: string, index: number): boolean {
  const { labels } = state.speakers;
  let at = labelIndex(label);
  for (let hops = labels.length; hops > 0 && at >= 0; hops -= 1) {
    if (at === index) return true;
    at = labels[at]?.mergedInto ?? -1;
  }
  return false;
}

/** False when the remaining label had taken the claim over, and has another or none by now. */
function isUnchanged(
  given: boolean | undefined,
  remaining: LabelState | undefined,
  claim: Claim,
): boolean {
  if (given !== true) return true;
  const now = remaining?.claim;
  return now?.claimedUserId === claim.claimedUserId && now.source === claim.source;
}

function giveNameBack(
  turn: Turn,
  { from, around, byUserId }: { from: string; around: string; byUserId: string },
  name: NonNullable<LabelState["before"]>["name"],
): void {
  if (name === undefined) return;
  const remaining = turn.state.speakers.labels[labelIndex(around)];
  // Named anew, or not at all any more, since the merge.
  if (name.given && remaining?.nameId !== name.id) return;
  // First the label that gets the name: it is one row, which the other label must not delete.
  turn.emit({ type: "SpeakerNamed", label: from, nameId: name.id, byUserId });
  if (name.given) turn.emit({ type: "SpeakerNamed", label: around, byUserId });
}

/**
 * Gives segments of a speaker to another one, or to a new one. Those that are not that speaker's any
 * more, or redacted, stay. Throws `not_found`, or `conflict` when none is left.
 */
export function decideReassign(turn: Turn, command: CommandOf<"ReassignSegments">) {
  const { state } = turn;
  const { into, byUserId } = command;
  const from = nameOrUnknown(turn, command.from);
  const label = into === "" ? newLabel(turn) : nameOrUnknown(turn, into);
  const wanted = new Set(command.segmentIds);
  const found = state.segments.filter(({ id, redacted, label: now }) => {
    return wanted.has(id) && now === from && redacted !== true;
  });
  if (label === from) return { label, skipped: [] };
  if (found.length === 0) {
    throw new AppError("conflict", `None of these lines is of ${from} any more.`);
  }
  const segments = found.map(({ id, start }) => ({ segmentId: id, start }));
  turn.emit({ type: "SegmentsReassigned", from, label, segments, byUserId });
  redactCovered(turn);
  for (const { id } of found) wanted.delete(id);
  return { label, skipped: [...wanted] };
}

function nameOrUnknown(turn: Turn, label: string): string {
  return label === UNKNOWN_SPEAKER ? label : survivingName(turn, label);
}

/** The next label. */
function newLabel({ state }: Turn): string {
  // Its voices have their labels already, and may have this one.
  if (state.candidate !== undefined) {
    throw new AppError(
      "conflict",
      "A repeated transcription waits for a choice: accept or discard it before you add a speaker.",
    );
  }
  return labelName(state.speakers.labels.length);
}
