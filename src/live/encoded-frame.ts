import type { DurableFrame, ServerFrame, SessionStatus } from "../wire/live-frames.ts";

/** A frame turned into bytes once, for everybody who gets it. */
export interface EncodedFrame {
  /** Present on durable frames only. */
  seq: number | undefined;
  /** It tells of the moment only, so a follower may do without it. */
  transient: boolean;
  /** The session's status, when the frame tells it. */
  status: SessionStatus | undefined;
  bytes: Uint8Array;
}

/** How the followers of a feed get its frames. */
export type FrameEncoder = (frame: ServerFrame) => EncodedFrame;

/** True for a frame of the journal: it has a place in the session's order. */
export function isDurable(frame: ServerFrame): frame is DurableFrame {
  return "at" in frame && typeof frame.at === "string" && "seq" in frame;
}

/** What an encoded frame says besides its bytes. */
export function placeOf(frame: ServerFrame): Omit<EncodedFrame, "bytes"> {
  const status = statusIn(frame);
  if (isDurable(frame)) return { seq: frame.seq, transient: false, status };
  return { seq: undefined, transient: !LASTING.has(frame.type), status };
}

/** Not of the journal, and yet nobody may do without them. */
const LASTING: ReadonlySet<ServerFrame["type"]> = new Set<ServerFrame["type"]>([
  "Snapshot",
  "SessionEnded",
  "Warning",
  "Error",
]);

function statusIn(frame: ServerFrame): SessionStatus | undefined {
  if (frame.type === "Snapshot") return frame.session.status;
  return frame.type === "SessionStatus" ? frame.status : undefined;
}

/** As JSON. */
export function encodeFrame(frame: ServerFrame): EncodedFrame {
  return { ...placeOf(frame), bytes: Buffer.from(JSON.stringify(frame), "utf8") };
}
