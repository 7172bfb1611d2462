import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { environmentOf } from "../support/cluster-stage.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { type PartName, WholeService } from "../support/whole-service.ts";
import { type ChaosFigures, figuresOf, keepEvidence, readCalmly } from "./comparison.ts";
import { Crew, signIn } from "./crew.ts";
import { Examiner, type Outcome } from "./verdict.ts";

export interface ClusterChaosOptions {
  readonly kills: number;
  readonly seed: number;
  readonly say: (line: string) => void;
  /** Where all logs go, and the events of sessions that are not as they should be. */
  readonly evidence: string;
}

const PARTS: readonly PartName[] = [
  ...(["front-1", "front-2", "sessions-1", "sessions-2", "worker-1", "worker-2"] as const),
  ...(["nats-1", "nats-2", "nats-3", "postgres"] as const),
];
const AUDIO_SECONDS = 8;
const SPEED = 0.4;
const MOST_GAP_MS = 3_000;
/** A cluster of three has lost its majority while two are away: they are killed one by one. */
const NATS_REST_MS = 10_000;

/**
 * Kills parts of a cluster at random while ten devices record through both fronts and viewers
 * follow, and compares with what nothing disturbed: words, labels, chunks, and what viewers saw.
 */
export async function runClusterChaos(
  options: ClusterChaosOptions,
): Promise<ChaosFigures & { problems: string[] }> {
  const service = await WholeService.start({ VOICE_CLUSTER: "1" });
  try {
    return await disturb(service, options);
  } finally {
    cpSync(join(service.folder, "data/logs"), options.evidence, { recursive: true });
    await service.stop();
  }
}

async function disturb(service: WholeService, options: ClusterChaosOptions) {
  const { say, evidence } = options;
  const env = environmentOf(service.ready.pids["sessions-1"] ?? 0);
  const { admin, fronts } = service.ready;
  const crews: Crew[] = [];
  for (const { base_url } of fronts) {
    crews.push(await Crew.gather(`${base_url}/api`, admin, AUDIO_SECONDS));
  }
  const direct = await signIn(`${fronts[0]?.base_url}/api`, admin);
  const calm = await readCalmly((await crews[0]?.recordOnce(4)) ?? [], direct);
  say(`undisturbed: ${calm.map(({ segments }) => segments.length).join(", ")} segments`);
  const nats = { url: env.NATS_URL ?? "", token: env.NATS_TOKEN ?? "" };
  const examiner = new Examiner({ databaseUrl: env.DATABASE_URL ?? "", nats }, direct);
  const problems: string[] = [];
  const over = new AbortController();
  const recording = crews.map((crew) =>
    crew.recordUntil(over.signal, SPEED, async (each) => {
      const found = await examiner.examine(each, calm[each.lane] as Outcome);
      for (const problem of found) say(problem);
      problems.push(...found);
      if (found.length > 0) await keepEvidence(examiner, [each], evidence);
    }),
  );
  await killAll(service, options);
  over.abort();
  say("the kills are over");
  await Promise.all(recording);
  problems.push(...crews.flatMap(({ failures }) => failures), ...(await examiner.queues()));
  return { problems, ...figuresOf(crews) };
}

/** One after the other, whether the one before is back or not; none that is away. */
async function killAll(service: WholeService, { kills, seed, say }: ClusterChaosOptions) {
  const random = new SeededRandom(seed);
  const away = new Map<PartName, Promise<void>>();
  let natsRestsUntil = 0;
  for (let n = 1; n <= kills; n += 1) {
    await delay(random.below(MOST_GAP_MS));
    const part = random.pick(PARTS);
    await away.get(part);
    if (part.startsWith("nats")) {
      await delay(Math.max(0, natsRestsUntil - performance.now()));
      natsRestsUntil = performance.now() + NATS_REST_MS;
    }
    const pid = service.kill(part);
    const killedAt = performance.now();
    const back = service.replaced(part, pid).then(() => {
      away.delete(part);
      const seconds = ((performance.now() - killedAt) / 1_000).toFixed(2);
      say(`${n}/${kills} ${part} killed, back after ${seconds} s`);
    });
    away.set(part, back);
  }
  await Promise.all(away.values());
}
