import type { Server, ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { toAppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { GraphServiceService } from "../../src/wire/gen/voice/v1/worker_services.ts";
import { toGrpcFailure } from "../../src/wire/grpc-status.ts";
import type { GraphThread } from "../threads/graph-thread.ts";
import type { ExtraService } from "./server.ts";

type EncodedCall = ServerUnaryCall<Buffer, Buffer>;

function same(bytes: Buffer): Buffer {
  return bytes;
}

/**
 * Messages stay encoded: the thread decodes and encodes them, the main thread only passes them on.
 */
const definition = {
  extractEntities: {
    ...GraphServiceService.extractEntities,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  },
} as const;

interface GraphServiceOptions {
  thread: GraphThread;
  log: Log;
}

/** Creates the GraphService of worker_services.proto. */
export function graphService(options: GraphServiceOptions): ExtraService {
  return {
    name: "voice.v1.GraphService",
    addTo(server: Server) {
      server.addService(definition, {
        extractEntities: (call: EncodedCall, answer: sendUnaryData<Buffer>) => {
          void extract(options, call, answer);
        },
      });
    },
  };
}

async function extract(
  { thread, log }: GraphServiceOptions,
  call: EncodedCall,
  answer: sendUnaryData<Buffer>,
): Promise<void> {
  const gone = new AbortController();
  call.on("cancelled", () => gone.abort());
  try {
    const graph = await thread.extract(call.request, gone.signal);
    answer(null, Buffer.from(graph.buffer, graph.byteOffset, graph.byteLength));
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.code === "internal") log.error({ code: error.code }, "a graph could not be made");
    answer(toGrpcFailure(error));
  }
}
