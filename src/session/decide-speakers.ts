import { AppError } from "../base/errors.ts";
import type { CommandOf } from "./command.ts";
import { type LabelState, labelIndex, labelName, survivingLabel } from "./speakers.ts";
import type { ClaimSource } from "./status.ts";
import type { Turn } from "./turn.ts";

export interface ClaimReply {
  label: string;
  source: ClaimSource;
  claimedUserId: string;
}

function survivingNameOf(turn: Turn, label: string): { name: string; state: LabelState } {
  const { speakers } = turn.state;
  const index = labelIndex(label);
  const known = index >= 0 && index < speakers.labels.length;
  const at = known ? survivingLabel(speakers, index) : -1;
  const state = speakers.labels[at];
  if (state === undefined) {
    throw new AppError("not_found", `There is no speaker ${label} in this session.`);
  }
  return { name: labelName(at), state };
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
