import type { StreamFormat } from "./audio-stream-store.ts";

/** Streamed audio on its way to the session's actor, durable already. */
export interface LivePiece {
  kind: "piece";
  /** The chunk that it is a part of. */
  sequence: number;
  /** Counts from 0 within the chunk. */
  piece: number;
  format: StreamFormat;
  /** Frames and bytes of the chunk before it. */
  startFrame: number;
  startByte: number;
  frames: number;
  data: Uint8Array;
  /** Whether hypotheses are wanted. */
  interim: boolean;
}

/** The utterance in hand ends before piece `piece` of chunk `sequence`. */
export interface LiveFinalize {
  kind: "finalize";
  sequence: number;
  piece: number;
}

export type LiveAudio = LivePiece | LiveFinalize;

/**
 * Port: tells the session's actor of streamed audio right after its commit. At
 * most once and in order: an actor that misses a piece reads it from the store.
 */
export interface LivePieces {
  publish(sessionId: string, audio: LiveAudio): void;
}
