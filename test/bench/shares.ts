import { delay } from "../../src/base/deferred.ts";
import { until } from "../support/until.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";
import { WholeService } from "../support/whole-service.ts";
import { ChildTask } from "./child-task.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import type { FloodCounts, FloodQuestion } from "./shares-flood.ts";
import { quantile } from "./statistics.ts";
import { SHARED_THINGS, type SharedThing, Tenant } from "./tenant.ts";

const WORKSPACES = 50;
const TIMES = 20;
/** Until the flood has filled what it can fill. */
const RISE_MS = 5_000;
/** Until what the flood asked for is done, so that the next row begins at rest. */
const SETTLE_MS = 10_000;
const OPEN_MS = 900_000;
const MARK = { times: 3, ms: 1_000 };
/** BENCH_SHARES=file,question measures some of them. */
const WANTED = process.env.BENCH_SHARES?.split(",");

/**
 * What one tenant notices while another, from 50 workspaces, uses the same thing as much as it can:
 * the 95th percentile of the time until it is done, beside the same alone in the same run. The flood
 * has a process of its own and no limit of requests a minute, so that only the shares hold it.
 */
export async function measureShares(scale: BenchScale): Promise<BenchRow[]> {
  const service = await WholeService.start({ RATE_LIMIT_FACTOR: "0", WEBHOOK_ALLOW_PRIVATE: "1" });
  const flood = new ChildTask("shares-flood.ts");
  const ask = <T>(question: FloodQuestion) => flood.ask<T>(question, OPEN_MS);
  const [hook, silent] = [await WebhookReceiver.open(), await WebhookReceiver.open()];
  silent.reply = () => "silence";
  try {
    const [modest] = await Tenant.openAll(service, 1, hook.url);
    if (modest === undefined) throw new Error("No tenant.");
    const workspaces = Math.max(5, Math.round(WORKSPACES * scale.size));
    await ask({ kind: "open", folder: service.folder, workspaces, hook: silent.url });
    const times = Math.max(5, Math.round(TIMES * scale.size));
    const things = (Object.keys(SHARED_THINGS) as SharedThing[]).filter(
      (thing) => WANTED?.includes(thing) ?? true,
    );
    // All of them before the first flood: no figure of somebody alone is of a service that settles.
    const quiet = new Map<SharedThing, Times>();
    for (const thing of things) quiet.set(thing, await repeat(modest, thing, times, hook));
    const rows: BenchRow[] = [];
    for (const [thing, alone] of quiet) {
      await ask({ kind: "start", thing });
      await delay(RISE_MS);
      const beside = await repeat(modest, thing, times, hook);
      const counts = await ask<FloodCounts>({ kind: "stop" });
      await delay(SETTLE_MS);
      rows.push(row(thing, alone, beside, counts));
    }
    return rows;
  } finally {
    await flood.stop();
    await Promise.all([service.stop(), hook.close(), silent.close()]);
  }
}

/** Milliseconds until it was done, each time; what was refused counts as a failure. */
interface Times {
  done: number[];
  failures: string[];
}

async function repeat(
  tenant: Tenant,
  thing: SharedThing,
  times: number,
  hook: WebhookReceiver,
): Promise<Times> {
  const heard = (sessionId: string) =>
    until(
      () => hook.received.some(({ message }) => message.data.session_id === sessionId),
      "the webhook",
      OPEN_MS,
    );
  const result: Times = { done: [], failures: [] };
  for (let n = 0; n < times; n += 1) {
    const begun = performance.now();
    try {
      await tenant.use(thing, heard);
      result.done.push(performance.now() - begun);
    } catch (error) {
      result.failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  return result;
}

function row(thing: SharedThing, alone: Times, beside: Times, flood: FloodCounts): BenchRow {
  const [quiet, ours] = [quantile(alone.done, 0.95), quantile(beside.done, 0.95)];
  const failures = [...alone.failures, ...beside.failures];
  const failed = failures.length > 0 ? `, first failure: ${failures[0]}` : "";
  return {
    figure: `beside a flood of the same: ${SHARED_THINGS[thing]}, p95`,
    unit: "ms",
    ours,
    peer: { name: "alone", value: quiet },
    ratio: quiet / ours,
    mark: `<= ${MARK.times} x alone + ${MARK.ms} ms`,
    met: failures.length === 0 && ours <= MARK.times * quiet + MARK.ms,
    detail: `${beside.done.length} times, ${failures.length} failures${failed}; the flood did ${flood.done} and was refused ${flood.refused}`,
  };
}
