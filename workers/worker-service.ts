import type { ServerDuplexStream } from "@grpc/grpc-js";
import { WorkerServiceService } from "../src/wire/gen/voice/v1/worker.ts";

function same(bytes: Buffer): Buffer {
  return bytes;
}

/** The service with Transcribe left encoded: threads decode and encode, the main thread passes on. */
export const workerService = {
  ...WorkerServiceService,
  transcribe: {
    ...WorkerServiceService.transcribe,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  },
} as const;

/** A Transcribe call of encoded messages. */
export type EncodedCall = ServerDuplexStream<Buffer, Buffer>;
