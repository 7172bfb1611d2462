import type { DurableFrame, ServerFrame } from "../wire/live-frames.ts";

/** A frame turned into bytes once, for everybody who gets it. */
export interface EncodedFrame {
  /** Present on durable frames only. */
  seq: number | undefined;
  /** Of the moment only: a follower may do without it. */
  transient: boolean;
  bytes: Uint8Array;
}

/** How the followers of a feed get its frames. */
export type FrameEncoder = (frame: ServerFrame) => EncodedFrame;

/** True for a frame of the journal: it has a place in the session's order. */
export function isDurable(frame: ServerFrame): frame is DurableFrame {
  return "at" in frame && typeof frame.at === "string" && "seq" in frame;
}

/** What an encoded frame says besides its bytes. */
export function placeOf(frame: ServerFrame): Pick<EncodedFrame, "seq" | "transient"> {
  if (isDurable(frame)) return { seq: frame.seq, transient: false };
  const tells = frame.type === "Snapshot" || frame.type === "Warning" || frame.type === "Error";
  return { seq: undefined, transient: !tells };
}

/** As JSON. */
export function encodeFrame(frame: ServerFrame): EncodedFrame {
  return { ...placeOf(frame), bytes: Buffer.from(JSON.stringify(frame), "utf8") };
}
