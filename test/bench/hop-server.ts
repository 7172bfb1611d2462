/** A worker with a thread that recognises nothing, and beside it a unary method as gRPC has them. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { ThreadPool } from "../../workers/threads/pool.ts";
import { WORKER_KEY } from "../support/worker-key.ts";
import { answerParent } from "./answer-parent.ts";
import { unaryPieces } from "./hop-unary.ts";

const pool = new ThreadPool({
  threads: 1,
  sessionsPerThread: 64,
  entry: new URL("../support/scripted-thread-entry.ts", import.meta.url),
  clock: systemClock,
  log: silentLog,
});
await pool.start();
const worker = new WorkerServer({
  workerId: "bench",
  version: "0",
  host: "127.0.0.1",
  port: 0,
  key: WORKER_KEY,
  pool,
  log: silentLog,
});
const ours = await worker.start();

const plain = new Server();
plain.addService(unaryPieces, {
  read: (
    call: { request: { start: number; length: number } },
    answer: (error: null, progress: object) => void,
  ) => {
    const processedTo = call.request.start + call.request.length;
    answer(null, { processedTo, finalisedTo: processedTo });
  },
});
const unary = await new Promise<number>((resolve, reject) => {
  plain.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error === null) resolve(port);
    else reject(error);
  });
});

answerParent(async () => ({ ours, unary }));
