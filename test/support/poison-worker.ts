import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { ThreadPool } from "../../workers/threads/pool.ts";
import { WORKER_KEY } from "./worker-key.ts";

/** A worker process of its own, for tests in which a whole process dies. Says its address on stdout. */
const pool = new ThreadPool({
  threads: 1,
  sessionsPerThread: 8,
  entry: new URL("./poison-thread-entry.ts", import.meta.url),
  clock: systemClock,
  log: silentLog,
});
await pool.start();
const server = new WorkerServer({
  workerId: `poison-${process.pid}`,
  version: "0.0.0",
  host: "127.0.0.1",
  port: 0,
  key: WORKER_KEY,
  pool,
  log: silentLog,
});
process.stdout.write(`${await server.start()}\n`);
