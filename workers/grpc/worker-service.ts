import type { ServerDuplexStream } from "@grpc/grpc-js";
import {
  GraphServiceService,
  RetrievalServiceService,
  TextServiceService,
  VoiceServiceService,
  WorkerServiceService,
} from "../../src/wire/gen/voice/v1/worker_services.ts";

function same(bytes: Buffer): Buffer {
  return bytes;
}

const ENCODED = {
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
} as const;

/**
 * The service with an encoded Transcribe: threads decode and encode, the main thread only passes
 * messages on.
 */
export const workerService = {
  ...WorkerServiceService,
  transcribe: { ...WorkerServiceService.transcribe, ...ENCODED },
} as const;

/** Work on text, encoded for the same reason. */
export const textService = {
  summarise: { ...TextServiceService.summarise, ...ENCODED },
} as const;

/** Questions about conversations, encoded for the same reason. */
export const retrievalService = {
  understand: { ...RetrievalServiceService.understand, ...ENCODED },
  retrieve: { ...RetrievalServiceService.retrieve, ...ENCODED },
  takeTurn: { ...RetrievalServiceService.takeTurn, ...ENCODED },
} as const;

/** A Transcribe call with encoded messages. */
export type EncodedCall = ServerDuplexStream<Buffer, Buffer>;

/** Comparing of voices, encoded for the same reason. */
export const voiceService = {
  compareVoice: { ...VoiceServiceService.compareVoice, ...ENCODED },
} as const;

/** Entities of conversations, encoded for the same reason; on the wire one answer of a stream is a unary answer. */
export const graphService = {
  extractEntities: { ...GraphServiceService.extractEntities, ...ENCODED, responseStream: true },
} as const;
