import type { SegmentMark } from "./segments.ts";
import type { SessionState } from "./state.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Packs segments into one text, a third of their size as JSON: they make up nearly all of a long
 * session's state. The fields of each are its id, the distance from the start of the one before,
 * its length, label and cluster; then its revision, `r` when it was redacted, `c` when a person chose
 * its speaker, and the label that it had before a merge. Empty fields at the end are left out.
 */
export function packSegments(marks: readonly SegmentMark[]): string {
  let before = 0;
  const packed = marks.map(({ id, start, end, label, cluster, ...rest }) => {
    const fields = [packId(id), start - before, end - start, label, cluster];
    before = start;
    const { revision = "", redacted, chosen, own = "" } = rest;
    const marked = [revision, redacted ? "r" : "", chosen ? "c" : "", own];
    const last = marked.findLastIndex((field) => field !== "");
    return [...fields, ...marked.slice(0, last + 1)].join(",");
  });
  return packed.join(";");
}

export function unpackSegments(packed: string): SegmentMark[] {
  if (packed === "") return [];
  let start = 0;
  return packed.split(";").map((text) => {
    const [id = "", after, length, label = "", cluster, ...rest] = text.split(",");
    const [revision = "", redacted, chosen, own = ""] = rest;
    start += Number(after);
    const mark = { id: unpackId(id), start, end: start + Number(length), label };
    return {
      ...mark,
      cluster: Number(cluster),
      ...(revision !== "" && { revision: Number(revision) }),
      ...(redacted === "r" && { redacted: true as const }),
      ...(chosen === "c" && { chosen: true as const }),
      ...(own !== "" && { own }),
    };
  });
}

/** Shortens a UUID from 36 to 22 characters. */
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
 * Version of SessionState as it is stored. It must rise with every change that older snapshots do
 * not fit. Snapshots only save time: those of another version are ignored, because every event is
 * kept.
 */
export const SNAPSHOT_VERSION = 7;

interface Packed extends Omit<SessionState, "segments"> {
  segments: string;
}

/** The state as JSON, as it is stored. */
export function packState(state: SessionState): unknown {
  const packed: Packed = { ...state, segments: packSegments(state.segments) };
  return packed;
}

/**
 * Restores a packed state; the result may share parts with `stored`. Throws when `packState` of
 * this version has not written it.
 */
export function unpackState(stored: unknown): SessionState {
  const packed = stored as Packed;
  return { ...packed, segments: unpackSegments(packed.segments) };
}
