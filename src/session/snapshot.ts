import type { SegmentMark } from "./segments.ts";
import type { SessionState } from "./state.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Marks as one text, a third of what they are as JSON: they are nearly all of a long session's
 * state. Of each its id, how far after the one before it starts, its length, label and cluster;
 * then its revision and `r` where it was edited or redacted.
 */
export function packSegments(marks: readonly SegmentMark[]): string {
  let before = 0;
  const packed = marks.map(({ id, start, end, label, cluster, revision, redacted }) => {
    const fields = [packId(id), start - before, end - start, label, cluster];
    before = start;
    const rest = redacted ? [revision ?? "", "r"] : revision === undefined ? [] : [revision];
    return [...fields, ...rest].join(",");
  });
  return packed.join(";");
}

export function unpackSegments(packed: string): SegmentMark[] {
  if (packed === "") return [];
  let start = 0;
  return packed.split(";").map((text) => {
    const [id = "", after, length, label = "", cluster, revision = "", redacted] = text.split(",");
    start += Number(after);
    const mark = { id: unpackId(id), start, end: start + Number(length), label };
    return {
      ...mark,
      cluster: Number(cluster),
      ...(revision !== "" && { revision: Number(revision) }),
      ...(redacted === "r" && { redacted: true as const }),
    };
  });
}

/** 22 characters in place of 36. */
function packId(id: string): string {
  if (!UUID.test(id)) return `=${id}`;
  return Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");
}

function unpackId(packed: string): string {
  if (packed.startsWith("=")) return packed.slice(1);
  const hex = Buffer.from(packed, "base64url").toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * Version of SessionState as it is stored. It rises with every change that older snapshots do not
 * fit: a snapshot only saves time, and one of another version is left aside, as every event is kept.
 */
export const SNAPSHOT_VERSION = 5;

interface Packed extends Omit<SessionState, "segments"> {
  segments: string;
}

/** The state as it is stored, as JSON. */
export function packState(state: SessionState): unknown {
  const packed: Packed = { ...state, segments: packSegments(state.segments) };
  return packed;
}

/** May keep parts of what it is given. Throws on what `packState` of this version has not written. */
export function unpackState(stored: unknown): SessionState {
  const packed = stored as Packed;
  return { ...packed, segments: unpackSegments(packed.segments) };
}
