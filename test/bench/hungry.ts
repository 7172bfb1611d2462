import { delay } from "../../src/base/deferred.ts";
import { call, cut, PairedDevice } from "../support/paired-device.ts";
import { WholeService } from "../support/whole-service.ts";
import { ChildTask } from "./child-task.ts";
import type { HungryCounts, HungryQuestion } from "./hungry-clients.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { quantile } from "./statistics.ts";

const MARK = 2;
const ROUND_MS = 12_000;
/** Until what is slow is late for the first time, and comes again. */
const SETTLE_MS = 4_000;
const READ_EVERY_MS = 80;
const UPLOAD_EVERY_MS = 400;
const HISTORY = 4;

interface Times {
  reads: number[];
  uploads: number[];
  failed: number;
}

/**
 * What the neighbours of slow and hungry clients notice: the 95th percentile of an authenticated
 * read and of a chunk's upload, beside the same in the quiet rounds of the same run. Requests begin
 * on a fixed schedule, whatever became of the ones before. Hungry clients have a process of their
 * own, so that their work does not count as waiting.
 */
export async function measureHungry(scale: BenchScale): Promise<BenchRow[]> {
  const service = await WholeService.start({ WORKER_THREADS: "1" });
  const hungry = new ChildTask("hungry-clients.ts");
  const ask = <T>(question: HungryQuestion) => hungry.ask<T>(question);
  try {
    const { key, token, sessionId } = await record(service);
    const { live_url: live, grpc_sessions: grpc } = service.ready;
    const target = { api: service.api, live, grpc, key, token, sessionId };
    const modest = await PairedDevice.pair(service);
    await modest.start();
    const quiet: Times = { reads: [], uploads: [], failed: 0 };
    const beside: Times = { reads: [], uploads: [], failed: 0 };
    const counts = { opened: 0, refused: 0, late: 0 };
    const roundMs = Math.max(3_000, ROUND_MS * scale.size);
    const neighbour = new Neighbour(modest);
    // One that is not counted: the first requests are of a process that is still warming up.
    await neighbour.work({ reads: [], uploads: [], failed: 0 }, roundMs);
    for (let round = 0; round < scale.rounds; round += 1) {
      await neighbour.work(quiet, roundMs);
      await ask({ kind: "start", target });
      await delay(SETTLE_MS);
      await neighbour.work(beside, roundMs);
      const { opened, refused, late } = await ask<HungryCounts>({ kind: "stop" });
      counts.opened += opened;
      counts.refused += refused;
      counts.late += late;
      await delay(SETTLE_MS);
    }
    const seen = `${counts.opened} hungry connections, ${counts.refused} refused, ${counts.late} late; neighbours' failures: ${quiet.failed} quiet, ${beside.failed} beside them`;
    return [
      row("an authenticated read, p95", quiet.reads, beside.reads, seen),
      row("a chunk of 0.5 s uploaded, p95", quiet.uploads, beside.uploads, seen),
    ];
  } finally {
    await hungry.stop();
    await service.stop();
  }
}

/** A device with a complete session that is worth downloading. */
async function record(service: WholeService): Promise<PairedDevice> {
  const device = await PairedDevice.pair(service);
  await device.start();
  const pieces = Array.from({ length: HISTORY }, () => cut(30)).flat();
  for (const [sequence, piece] of pieces.entries()) await device.upload(sequence, piece);
  return device;
}

/** Somebody who reads and records while the others are hungry. */
class Neighbour {
  readonly #device: PairedDevice;
  readonly #pieces = cut(0.5);
  #sequence = 0;

  constructor(device: PairedDevice) {
    this.#device = device;
  }

  async work(times: Times, ms: number): Promise<void> {
    const under = new Set<Promise<void>>();
    const { service, token } = this.#device;
    const timed = (into: number[], ask: () => Promise<unknown>) => {
      const begun = performance.now();
      const work = ask().then(
        () => void into.push(performance.now() - begun),
        () => {
          times.failed += 1;
        },
      );
      under.add(work);
      void work.then(() => under.delete(work));
    };
    const reading = setInterval(() => {
      timed(times.reads, () => expectOk(call(service.api, "GET", "/auth/me", { token })));
    }, READ_EVERY_MS);
    const uploading = setInterval(() => {
      const piece = this.#pieces[this.#sequence % this.#pieces.length] ?? Buffer.alloc(0);
      const sequence = this.#sequence;
      this.#sequence += 1;
      timed(times.uploads, () => expectOk(this.#device.upload(sequence, piece)));
    }, UPLOAD_EVERY_MS);
    await delay(ms);
    clearInterval(reading);
    clearInterval(uploading);
    await Promise.all(under);
  }
}

async function expectOk(answer: Promise<{ status: number }>): Promise<void> {
  const { status } = await answer;
  if (status >= 300) throw new Error(`The answer is ${status}.`);
}

function row(figure: string, quiet: number[], beside: number[], seen: string): BenchRow {
  const calm = quantile(quiet, 0.95);
  const ours = quantile(beside, 0.95);
  return {
    figure: `beside hungry clients: ${figure}`,
    unit: "ms",
    ours,
    peer: { name: "quiet", value: calm },
    ratio: calm / ours,
    mark: `<= ${MARK} x quiet`,
    met: ours <= MARK * calm,
    detail: `${beside.length} and ${quiet.length} requests; ${seen}`,
  };
}
