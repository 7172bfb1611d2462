import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SeededRandom } from "../support/seeded-random.ts";
import { environmentOf } from "../support/service-cluster.ts";
import { until } from "../support/until.ts";
import { type PartName, WholeService } from "../support/whole-service.ts";
import { type ChaosFigures, figuresOf, keepEvidence, readCalmly } from "./comparison.ts";
import { Crew, signIn } from "./crew.ts";
import { HookEar } from "./hook-ear.ts";
import type { Outcome } from "./outcome.ts";
import { Ownership } from "./ownership.ts";
import { Deck, type Story } from "./stories.ts";
import { missingBites } from "./story-bites.ts";
import { type Server, ThirdHost } from "./third-host.ts";
import { Examiner } from "./verdict.ts";

export interface ClusterChaosOptions {
  readonly kills: number;
  /** Times that one host is without NATS or without PostgreSQL for a minute, by turns. */
  readonly isolations: number;
  readonly seed: number;
  /** What devices and people do besides, each once. */
  readonly stories: readonly Story[];
  readonly say: (line: string) => void;
  /** Where all logs go, and the events of sessions that are not as they should be. */
  readonly evidence: string;
}

export interface ClusterChaosResult extends ChaosFigures {
  readonly bites: { readonly [what: string]: number };
  readonly webhooks: number;
  readonly owners: number;
  readonly explainedOwners: number;
  readonly problems: string[];
}

const PARTS: readonly PartName[] = [
  ...(["front-1", "front-2", "sessions-1", "sessions-2", "worker-1", "worker-2"] as const),
  ...(["nats-1", "nats-2", "nats-3", "postgres"] as const),
];
/** Long enough for two voices to be told apart. */
const AUDIO_SECONDS = 12;
const SPEED = 0.6;
const MOST_GAP_MS = 3_000;
/** A cluster of three has lost its majority while two are away: they are killed one by one. */
const NATS_REST_MS = 10_000;
const ISOLATION_MS = 60_000;
const SHARE_MS = 60_000;
const SERVERS: readonly Server[] = ["nats", "postgres"];
/** Of the third host's wall clock: further off than a device may be silent. */
const SKEW_MS = 10 * 60_000;
const AUTO_STOP_SECONDS = "120";

/**
 * Kills parts of a cluster at random, and cuts a third host with a wrong clock off from one of its
 * servers, while ten devices record through both fronts and viewers follow; compares with what
 * nothing disturbed: words, labels, chunks, what people did, what viewers saw and webhooks told.
 */
export async function runClusterChaos(options: ClusterChaosOptions): Promise<ClusterChaosResult> {
  const service = await WholeService.start({
    VOICE_CLUSTER: "1",
    WEBHOOK_ALLOW_PRIVATE: "true",
    AUTO_STOP_SILENCE: AUTO_STOP_SECONDS,
  });
  const hooks = await HookEar.open();
  let third: ThirdHost | undefined;
  try {
    const logFile = join(options.evidence, "sessions-3.log");
    third = await ThirdHost.start(service, { skewMs: SKEW_MS, logFile });
    return await disturb(service, third, hooks, options);
  } finally {
    await third?.stop();
    cpSync(join(service.folder, "data/logs"), options.evidence, { recursive: true });
    await service.stop();
    await hooks.close();
  }
}

async function disturb(
  service: WholeService,
  third: ThirdHost,
  hooks: HookEar,
  options: ClusterChaosOptions,
): Promise<ClusterChaosResult> {
  const { say, evidence, stories } = options;
  const env = environmentOf(service.ready.pids["sessions-1"] ?? 0);
  const { admin, fronts } = service.ready;
  const crews: Crew[] = [];
  for (const { base_url } of fronts) {
    crews.push(await Crew.gather(`${base_url}/api`, admin, AUDIO_SECONDS));
  }
  await crews[0]?.addHook(hooks.url);
  const direct = await signIn(`${fronts[0]?.base_url}/api`, admin);
  const calm = await readCalmly((await crews[0]?.recordOnce(4)) ?? [], direct);
  say(`undisturbed: ${calm.map(({ segments }) => segments.length).join(", ")} segments`);
  const cluster = {
    databaseUrl: env.DATABASE_URL ?? "",
    blobFolder: env.VOICE_BLOB_DIR ?? "",
  };
  const over = new AbortController();
  const examiner = new Examiner({ cluster, user: direct, hooks, undisturbed: over.signal });
  const random = new SeededRandom(options.seed);
  const deck = new Deck(stories, random);
  const ownership = new Ownership();
  const problems: string[] = [];
  const recording = crews.map((crew) =>
    crew.recordUntil(over.signal, SPEED, { deck, random }, async (each) => {
      const found = [
        ...(await examiner.examine(each, calm[each.lane] as Outcome)),
        ...(await ownership.judge(each.sessionId, each.startedAt, examiner.record)),
      ];
      for (const problem of found) say(problem);
      problems.push(...found);
      if (found.length > 0) await keepEvidence(examiner, [each], evidence);
    }),
  );
  const isolated = isolateByTurns(third, ownership, options);
  await killAll(service, ownership, random, options);
  problems.push(...(await isolated));
  over.abort();
  say("the kills are over");
  await Promise.all(recording);
  problems.push(...missingBites(stories, examiner.bites));
  problems.push(...crews.flatMap(({ failures }) => failures), ...(await examiner.record.queues()));
  return {
    problems,
    ...figuresOf(crews),
    bites: Object.fromEntries(examiner.bites),
    webhooks: hooks.heard.size,
    owners: ownership.changes,
    explainedOwners: ownership.explained,
  };
}

/** Returns what found nothing to bite into. */
async function isolateByTurns(
  third: ThirdHost,
  ownership: Ownership,
  { isolations, say }: ClusterChaosOptions,
): Promise<string[]> {
  const problems: string[] = [];
  for (let n = 0; n < isolations; n += 1) {
    // It gets its share back some time after it was cut off.
    const hasAny = async (): Promise<boolean> => (await third.owned()) > 0;
    await until(hasAny, "sessions-3 to own partitions", SHARE_MS).catch(() => undefined);
    const server = SERVERS[n % SERVERS.length] ?? "nats";
    const owned = await third.owned();
    const end = ownership.begin();
    const bytes = await third.isolate(server, ISOLATION_MS);
    end();
    say(`sessions-3 without ${server} for a minute: ${owned} partitions, ${bytes} bytes held back`);
    if (bytes === 0 || owned <= 0) problems.push(`the isolation from ${server} never bit`);
  }
  return problems;
}

/** One after the other, whether the one before is back or not; none that is away. */
async function killAll(
  service: WholeService,
  ownership: Ownership,
  random: SeededRandom,
  { kills, say }: ClusterChaosOptions,
): Promise<void> {
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
    const end = /^(front|worker)/.test(part) ? () => undefined : ownership.begin();
    const pid = service.kill(part);
    const killedAt = performance.now();
    const back = service.replaced(part, pid).then(() => {
      end();
      away.delete(part);
      const seconds = ((performance.now() - killedAt) / 1_000).toFixed(2);
      say(`${n}/${kills} ${part} killed, back after ${seconds} s`);
    });
    away.set(part, back);
  }
  await Promise.all(away.values());
}
