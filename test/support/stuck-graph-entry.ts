import { parentPort } from "node:worker_threads";
import { expose } from "comlink";
import {
  ExtractEntitiesRequest,
  ExtractEntitiesResponse,
} from "../../src/wire/gen/voice/v1/graph.ts";
import type { GraphThreadCalls } from "../../workers/threads/graph-thread.ts";
import { toEndpoint } from "../../workers/threads/thread-protocol.ts";

if (parentPort === null) throw new Error("This file runs as a worker thread only.");

/** Hangs in the session "stuck", dies in "dead", and finds nothing in any other. */
const calls: GraphThreadCalls = {
  extract(request) {
    const { sessionId } = ExtractEntitiesRequest.decode(request);
    while (sessionId === "stuck");
    if (sessionId === "dead") process.exit(3);
    const empty = { entities: [], mentions: [], links: [] };
    return { ok: true, value: new Uint8Array(ExtractEntitiesResponse.encode(empty).finish()) };
  },
};

expose(calls, toEndpoint(parentPort));
