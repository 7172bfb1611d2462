import { parentPort } from "node:worker_threads";
import { expose, transfer } from "comlink";
import {
  ExtractEntitiesRequest,
  ExtractEntitiesResponse,
} from "../../src/wire/gen/voice/v1/graph.ts";
import { extractGraph } from "../text/graph/extract.ts";
import type { GraphThreadCalls } from "./graph-thread.ts";
import { toEndpoint, toFault } from "./thread-protocol.ts";

if (parentPort === null) throw new Error("This file runs as a worker thread only.");

const calls: GraphThreadCalls = {
  extract(request) {
    try {
      const graph = extractGraph(ExtractEntitiesRequest.decode(request));
      // A separate copy: the encoder's buffer is larger and may be shared.
      const value = new Uint8Array(ExtractEntitiesResponse.encode(graph).finish());
      return transfer({ ok: true, value }, [value.buffer]);
    } catch (error) {
      return { ok: false, fault: toFault(error) };
    }
  },
};

expose(calls, toEndpoint(parentPort));
