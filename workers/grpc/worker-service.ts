import type { ServerDuplexStream } from "@grpc/grpc-js";
import { RetrievalServiceService } from "../../src/wire/gen/voice/v1/retrieval.ts";
import { TextServiceService } from "../../src/wire/gen/voice/v1/text.ts";
import { WorkerServiceService } from "../../src/wire/gen/voice/v1/worker.ts";

function same(bytes: Buffer): Buffer {
  return bytes;
}

const ENCODED = {
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
} as const;

/** The service with Transcribe left encoded: threads decode and encode, the main thread passes on. */
export const workerService = {
  ...WorkerServiceService,
  transcribe: { ...WorkerServiceService.transcribe, ...ENCODED },
} as const;

/** Work on text, encoded for the same reason. */
export const textService = {
  summarise: { ...TextServiceService.summarise, ...ENCODED },
} as const;

/** Questions about conversations, encoded too. */
export const retrievalService = {
  understand: { ...RetrievalServiceService.understand, ...ENCODED },
  retrieve: { ...RetrievalServiceService.retrieve, ...ENCODED },
} as const;

/** A Transcribe call of encoded messages. */
export type EncodedCall = ServerDuplexStream<Buffer, Buffer>;
