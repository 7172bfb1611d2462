import type { DurableFrame, ServerFrame } from "../wire/live-frames.ts";

/** A frame turned into bytes once, for everybody who gets it. */
export interface EncodedFrame {
  /** Present on durable frames only. */
  seq: number | undefined;
  bytes: Uint8Array;
}

/** True for a frame of the journal: it has a place in the session's order. */
export function isDurable(frame: ServerFrame): frame is DurableFrame {
  return "at" in frame && typeof frame.at === "string" && "seq" in frame;
}

export function encodeFrame(frame: ServerFrame): EncodedFrame {
  return {
    seq: isDurable(frame) ? frame.seq : undefined,
    bytes: Buffer.from(JSON.stringify(frame), "utf8"),
  };
}
