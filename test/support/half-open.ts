/**
 * Run in a network of its own (`unshare`): a caller waits for the rest of a front's answer, and its
 * network goes away without a word. Prints after how many milliseconds the front aborted the request.
 */
import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { silentLog } from "../../src/base/log.ts";
import { noticeVanishedCallers } from "../../src/http/vanished-callers.ts";
import { defineRoute } from "../../src/rest/route.ts";
import { startFront } from "./front.ts";

const PATIENCE_MS = 75_000;

execFileSync("ip", ["link", "set", "lo", "up"]);
let gone = (): void => {};
const isGone = new Promise<void>((resolve) => {
  gone = resolve;
});

async function* blanks(signal: AbortSignal): AsyncGenerator<string> {
  signal.addEventListener("abort", gone);
  while (!signal.aborted) {
    yield "\n";
    await delay(4_000);
  }
}

const route = defineRoute({
  ...{ method: "get", path: "/wait", id: "wait", tag: "Session", summary: "Waits", auth: [] },
  responses: { 200: { description: "Never", schema: Type.Object({}) } },
  // Other answers are given up after a time of their own.
  handle: async () => ({ status: 200, events: { open: blanks } }),
});

const front = await startFront({ routes: [route] });
await noticeVanishedCallers(front.port, silentLog);
const caller = connect(front.port, "127.0.0.1");
caller.on("error", () => {});
caller.write("GET /api/wait HTTP/1.1\r\nHost: voice.test\r\n\r\n");
await delay(1_000);
execFileSync("ip", ["link", "set", "lo", "down"]);
const since = performance.now();
const late = delay(PATIENCE_MS).then(() => Number.POSITIVE_INFINITY);
const ms = await Promise.race([isGone.then(() => performance.now() - since), late]);
console.log(JSON.stringify({ ms: Number.isFinite(ms) ? Math.round(ms) : null }));
process.exit(0);
