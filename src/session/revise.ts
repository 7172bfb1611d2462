import type { SpeakerProposal } from "./command.ts";
import type { SpeakersRevised } from "./event.ts";
import { redactCovered } from "./redact-covered.ts";
import { segmentAt } from "./segments.ts";
import { areApart, labelForCluster, labelIndex, labelName, survivingLabel } from "./speakers.ts";
import type { Turn } from "./turn.ts";

/**
 * Turns a proposal about clusters into revised labels. Merged clusters merge their labels, of which
 * the older one survives; a cluster heard for the first time gets the next label. Emits nothing
 * when no visible label changes.
 */
export function revise(turn: Turn, proposal: SpeakerProposal, finalPass: boolean): void {
  const merges = mergedLabels(turn, proposal);
  if (merges.length > 0) {
    turn.emit({ type: "SpeakersRevised", revisions: [], merges, finalPass });
  }
  for (let pending = proposal.segments; pending.length > 0; ) {
    const { revisions, rest } = revisedLabels(turn, pending);
    if (revisions.length > 0) {
      turn.emit({ type: "SpeakersRevised", revisions, merges: [], finalPass });
    }
    pending = rest;
  }
  redactCovered(turn);
}

function mergedLabels(turn: Turn, proposal: SpeakerProposal): SpeakersRevised["merges"] {
  const { speakers } = turn.state;
  const merges: SpeakersRevised["merges"] = [];
  const gone = new Set<number>();
  for (const { from, into } of proposal.merges) {
    const a = speakers.clusters[from];
    const b = speakers.clusters[into];
    if (a === undefined || b === undefined) continue;
    const [older, younger] = [survivingLabel(speakers, a), survivingLabel(speakers, b)].sort(
      (x, y) => x - y,
    );
    if (older === undefined || younger === undefined || older === younger) continue;
    if (gone.has(younger) || gone.has(older) || areApart(speakers, older, younger)) continue;
    gone.add(younger);
    merges.push({ from: labelName(younger), into: labelName(older) });
  }
  return merges;
}

/**
 * Revisions up to and including the first one that makes a new label; `rest` must be revised after
 * it, with that label known.
 */
function revisedLabels(
  turn: Turn,
  segments: SpeakerProposal["segments"],
): { revisions: SpeakersRevised["revisions"]; rest: SpeakerProposal["segments"] } {
  const { state } = turn;
  const revisions: SpeakersRevised["revisions"] = [];
  for (const [index, { start, cluster }] of segments.entries()) {
    const mark = segmentAt(state.segments, start);
    // Whom a person chose stays, and so does what a person set apart.
    if (mark === undefined || mark.chosen === true) continue;
    const label = labelForCluster(state.speakers, cluster);
    if (label === mark.label) continue;
    if (areApart(state.speakers, labelIndex(label), labelIndex(mark.label))) continue;
    revisions.push({ segmentId: mark.id, start, label, cluster });
    if (labelIndex(label) >= state.speakers.labels.length) {
      return { revisions, rest: segments.slice(index + 1) };
    }
  }
  return { revisions, rest: [] };
}
