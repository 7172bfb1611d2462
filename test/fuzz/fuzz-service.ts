import { ApiClient } from "../support/api-client.ts";
import type { WholeService } from "../support/whole-service.ts";
import { grpcTarget } from "./grpc-target.ts";
import { httpTarget } from "./http-target.ts";
import { multipartTarget } from "./multipart-target.ts";
import { socketTarget } from "./socket-target.ts";
import { Cases, Findings, type Target, type TargetName } from "./target.ts";
import { type FuzzWorld, seedFuzzWorld } from "./world.ts";

export interface FuzzOptions {
  /** How many cases of each target are played; none of one that is not named. */
  cases: Partial<Record<TargetName, number>>;
  seed: number;
  /** Number of the first case of each target. */
  from?: number;
  /** Ends the run before its cases are played. */
  until?: () => boolean;
  /** Called after every case. */
  onCase?: (done: number) => void;
}

export interface FuzzResult {
  findings: Findings;
  /** How often what came of the cases, by target. */
  outcomes: Map<TargetName, Map<string, number>>;
}

/** Cases against one world; callers that ended themselves come back with the next. */
const PER_WORLD = 200;

/**
 * Plays generated cases against all targets at once. What the targets say of them, and every case
 * that took too long or threw, is a finding.
 */
export async function fuzzService(
  service: WholeService,
  { cases, seed, from = 0, until = () => false, onCase }: FuzzOptions,
): Promise<FuzzResult> {
  const client = await ApiClient.connect(service.api);
  const targets = await createTargets(service, Object.keys(cases) as TargetName[]);
  const result: FuzzResult = { findings: new Findings(seed), outcomes: new Map() };
  let done = 0;
  const runs = targets.map(async (target) => {
    const last = from + (cases[target.name] ?? 0);
    const generated = new Cases(target.plans, seed);
    for (let next = from; next < last && !until(); next += PER_WORLD) {
      const world = await seeded(client, service, result);
      if (world === undefined) return;
      const numbers = numbersFrom(next, Math.min(last, next + PER_WORLD)).values();
      const lane = async (): Promise<void> => {
        for (const number of numbers) {
          if (until()) return;
          await playCase({ target, number, plan: generated.at(number) }, world, result);
          done += 1;
          onCase?.(done);
        }
      };
      await Promise.all(Array.from({ length: target.lanes }, lane));
    }
  });
  await Promise.all(runs);
  return result;
}

/** How long a service that died may take to come back, milliseconds. */
const BACK_MS = 60_000;

/** Seeds a world, again and again while the service is away; undefined when it stays away. */
async function seeded(
  client: ApiClient,
  service: WholeService,
  { findings }: FuzzResult,
): Promise<FuzzWorld | undefined> {
  const deadline = performance.now() + BACK_MS;
  for (;;) {
    try {
      return await seedFuzzWorld(client, service.ready.admin);
    } catch (error) {
      findings.addOfRun(`no world could be made: ${reasonOf(error)}`);
      if (performance.now() > deadline) return undefined;
      await new Promise((wake) => setTimeout(wake, 1_000));
    }
  }
}

function numbersFrom(first: number, end: number): number[] {
  return Array.from({ length: end - first }, (_, index) => first + index);
}

function createTargets(service: WholeService, names: readonly TargetName[]): Promise<Target[]> {
  const { api, ready } = service;
  const creators: Record<TargetName, () => Promise<Target> | Target> = {
    http: () => httpTarget(api) as Promise<Target>,
    live: () => socketTarget(api, "live") as Promise<Target>,
    device: () => socketTarget(api, "device") as Promise<Target>,
    grpc: () => grpcTarget(ready.grpc_sessions) as Target,
    multipart: () => multipartTarget(api) as Promise<Target>,
  };
  return Promise.all(names.map((name) => creators[name]()));
}

async function playCase(
  { target, number, plan }: { target: Target; number: number; plan: unknown },
  world: FuzzWorld,
  { findings, outcomes }: FuzzResult,
): Promise<void> {
  const counts = outcomes.get(target.name) ?? new Map<string, number>();
  outcomes.set(target.name, counts);
  let outcome = "finding";
  try {
    outcome = await target.play(plan, world);
  } catch (error) {
    findings.add(target.name, number, reasonOf(error), plan);
  }
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
}

/** With its cause: fetch says no more than "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
}
