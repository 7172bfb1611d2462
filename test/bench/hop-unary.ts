import type { ServiceDefinition } from "@grpc/grpc-js";
import { AudioChunk, Progress } from "../../src/wire/gen/voice/v1/worker.ts";

/** The same messages, one call for each. */
export const unaryPieces = {
  read: {
    path: "/bench.Pieces/Read",
    requestStream: false,
    responseStream: false,
    requestSerialize: (piece: AudioChunk) => Buffer.from(AudioChunk.encode(piece).finish()),
    requestDeserialize: (bytes: Buffer) => AudioChunk.decode(bytes),
    responseSerialize: (progress: Progress) => Buffer.from(Progress.encode(progress).finish()),
    responseDeserialize: (bytes: Buffer) => Progress.decode(bytes),
  },
} satisfies ServiceDefinition;
