/** A thread that answers with what it is asked, and holds one answer back for ever. */
import { serveThreadCalls } from "../../src/base/threads/thread-calls.ts";

serveThreadCalls((request: string) => {
  if (request === "hang") return new Promise<string>(() => {});
  if (request === "end") process.exit(1);
  if (request === "fail") throw new Error("It cannot be done.");
  return request;
});
