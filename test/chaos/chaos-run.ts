import { type ChaosCluster, PAIRS, type Pair } from "../support/chaos-cluster.ts";
import { FAULT_KINDS, type FaultKind, hasBitten } from "../support/fault-proxy.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { type ChaosFigures, figuresOf, keepEvidence, readCalmly } from "./comparison.ts";
import { Crew, signIn } from "./crew.ts";
import { type Mishap, planMishaps, type Trouble } from "./fault-plan.ts";
import { HookEar } from "./hook-ear.ts";
import type { Outcome } from "./outcome.ts";
import { Ownership } from "./ownership.ts";
import { Deck, type Story } from "./stories.ts";
import { missingBites } from "./story-bites.ts";
import { disagreements, Examiner } from "./verdict.ts";

export interface ChaosOptions extends Trouble {
  readonly seed: number;
  /** Length of each session. */
  readonly audioSeconds: number;
  /** Of the devices; 1 is real time. */
  readonly speed: number;
  /** What devices and people do besides, each once. */
  readonly stories: readonly Story[];
  readonly say: (line: string) => void;
  /** Where the events of sessions go that are not as they should be. */
  readonly evidence?: string;
}

export interface ChaosResult extends ChaosFigures {
  /** What the sessions show to have happened, counted. */
  readonly bites: { readonly [what: string]: number };
  readonly webhooks: number;
  /** Activations of all sessions, and as how many faults explain. */
  readonly owners: number;
  readonly explainedOwners: number;
  /** Everything that is not as it should be; empty is good. */
  readonly problems: string[];
}

/** Most faults at one time. */
const AT_ONCE = 3;
/** A fault waits this long for traffic to bite into. */
const LONGEST_MS = 10_000;
const MORE_ROUNDS = 2;

/**
 * Records undisturbed first, then with everything going wrong that the plan holds, and compares:
 * words, labels and chunks of every session, what people did to it, what every viewer was shown,
 * and what the workspace's webhook was told.
 */
export async function runChaos(cluster: ChaosCluster, options: ChaosOptions): Promise<ChaosResult> {
  const hooks = await HookEar.open();
  try {
    return await disturb(cluster, options, hooks);
  } finally {
    await hooks.close();
  }
}

async function disturb(
  cluster: ChaosCluster,
  options: ChaosOptions,
  hooks: HookEar,
): Promise<ChaosResult> {
  const { say, seed, audioSeconds, stories } = options;
  const crew = await Crew.gather(cluster.api, cluster.admin, audioSeconds);
  const direct = await signIn(cluster.directApi, cluster.admin);
  await crew.addHook(hooks.url);
  const undisturbed = await crew.recordOnce(4);
  const calm = await readCalmly(undisturbed, direct);
  say(`undisturbed: ${calm.map(({ segments }) => segments.length).join(", ")} segments`);
  const random = new SeededRandom(seed);
  const plan = planMishaps(random, options);
  const deck = new Deck(stories, random);
  const over = new AbortController();
  const examiner = new Examiner({ cluster, user: direct, hooks });
  const ownership = new Ownership();
  const problems = [...disagreements(calm), ...(await cluster.clockProblems())];
  if (problems.length > 0) await keepEvidence(examiner, undisturbed, options.evidence);
  const recording = crew.recordUntil(over.signal, options.speed, { deck, random }, async (each) => {
    const found = [
      ...(await examiner.examine(each, calm[each.lane] as Outcome)),
      ...(await ownership.judge(each.sessionId, each.startedAt, examiner.record)),
    ];
    for (const problem of found) say(problem);
    problems.push(...found);
    if (found.length > 0) await keepEvidence(examiner, [each], options.evidence);
  });
  problems.push(...(await carryOut(cluster, plan, ownership, say)));
  over.abort();
  say("the faults are over");
  await recording;
  say("every session is looked at");
  for (const mishap of withoutEffect(cluster, plan)) {
    if (mishap.kind === "fault") problems.push(`${mishap.fault.kind} on ${mishap.pair} never bit`);
  }
  problems.push(...missingBites(stories, examiner.bites));
  problems.push(...crew.failures, ...(await examiner.record.queues()));
  return {
    problems,
    ...figuresOf([crew]),
    bites: Object.fromEntries(examiner.bites),
    webhooks: hooks.heard.size,
    owners: ownership.changes,
    explainedOwners: ownership.explained,
  };
}

/**
 * One after the other begins, a few last at once. What found nothing to bite into, as when its
 * process was just dead, is done again at the end. Returns what could not be done.
 */
async function carryOut(
  cluster: ChaosCluster,
  plan: readonly Mishap[],
  ownership: Ownership,
  say: (line: string) => void,
): Promise<string[]> {
  const problems: string[] = [];
  const busy = new Map<string, Promise<void>>();
  const begin = async (mishap: Mishap, name: string): Promise<void> => {
    await new Promise((wake) => setTimeout(wake, mishap.gapMs));
    const places = placesOf(mishap);
    for (const place of places) await busy.get(place);
    while (new Set(busy.values()).size >= AT_ONCE) await Promise.race(busy.values());
    const end = touchesHosts(mishap) ? ownership.begin() : () => undefined;
    const work = carryOutOne(cluster, mishap)
      .then((told) => say(`${name} ${told}`))
      .catch((error: unknown) => {
        problems.push(`${places[0]} ${mishap.kind}: ${String(error)}`);
      })
      .finally(() => {
        end();
        for (const place of places) busy.delete(place);
      });
    for (const place of places) busy.set(place, work);
  };
  for (const [n, mishap] of plan.entries()) await begin(mishap, `${n + 1}/${plan.length}`);
  await Promise.all(busy.values());
  for (let round = 0; round < MORE_ROUNDS; round += 1) {
    for (const mishap of withoutEffect(cluster, plan)) await begin(mishap, "again");
    await Promise.all(busy.values());
  }
  return problems;
}

/** A process that starts again is left alone until it runs. */
function placesOf(mishap: Mishap): string[] {
  if (mishap.kind === "fault" || mishap.kind === "isolation") return [mishap.pair];
  const part = mishap.kind === "kill" ? mishap.part : "postgres";
  const ends = (pair: Pair) => pair.replace("host-", "host1-host2-").split("-");
  return [part, ...PAIRS.filter((pair) => ends(pair).includes(part))];
}

/** Whether hosts may lose their sessions by it. */
function touchesHosts(mishap: Mishap): boolean {
  if (mishap.kind === "fault") return /^host[12]-/.test(mishap.pair);
  return mishap.kind !== "kill" || !["front", "worker"].includes(mishap.part);
}

async function carryOutOne(cluster: ChaosCluster, mishap: Mishap): Promise<string> {
  const startedAt = performance.now();
  const took = () => `${((performance.now() - startedAt) / 1_000).toFixed(2)} s`;
  if (mishap.kind === "kill") {
    await cluster.killAndRestart(mishap.part);
    return `${mishap.part} killed, back after ${took()}`;
  }
  if (mishap.kind === "switchover") {
    await cluster.switchOver();
    return `PostgreSQL switched over in ${took()}`;
  }
  if (mishap.kind === "isolation") {
    const { pair, ms } = mishap;
    // Silent, as when packets are dropped: nobody is told that the connection is gone.
    const bite = await cluster.proxies[pair].inflict({ kind: "stall", ms }, ms + LONGEST_MS);
    if (bite.bytes === 0) throw new Error("the isolation never bit");
    return `${pair} silent for ${took()}: ${bite.connections} connections, ${bite.bytes} bytes`;
  }
  const { pair, fault } = mishap;
  const bite = await cluster.proxies[pair].inflict(fault, Math.max(fault.ms, LONGEST_MS));
  const what = hasBitten(fault.kind, bite) ? "bit" : "missed";
  return `${pair} ${fault.kind} ${what}: ${bite.connections} connections, ${bite.bytes} bytes, ${took()}`;
}

/** One fault for each kind and pair of the plan that did nothing all along. */
function withoutEffect(cluster: ChaosCluster, plan: readonly Mishap[]): Mishap[] {
  const planned = new Map<string, Mishap>();
  for (const mishap of plan) {
    if (mishap.kind !== "fault") continue;
    const { pair, fault } = mishap;
    if (hasBitten(fault.kind, cluster.proxies[pair].told(fault.kind))) continue;
    planned.set(`${fault.kind} on ${pair}`, mishap);
  }
  return [...planned.values()];
}

/** What each kind of fault did on each pair, for people. */
export function tableOfBites(cluster: ChaosCluster): string[] {
  const cell = (pair: Pair, kind: FaultKind): string => {
    const { times, connections, bytes } = cluster.proxies[pair].told(kind);
    return `${times}×/${kind === "cut" || kind === "refuse" ? connections : bytes}`.padStart(12);
  };
  const width = Math.max(...PAIRS.map((pair) => pair.length));
  const head = " ".repeat(width) + FAULT_KINDS.map((kind) => kind.padStart(12)).join("");
  const rows = PAIRS.map(
    (pair) => pair.padEnd(width) + FAULT_KINDS.map((kind) => cell(pair, kind)).join(""),
  );
  return [head, ...rows];
}
