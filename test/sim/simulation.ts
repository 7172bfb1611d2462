import type { RecordOptions } from "../support/record/create-record.ts";
import { checkDeletion, checkEnd, checkRedactions, openWork } from "./oracles.ts";
import { type Mutant, World } from "./world.ts";

export interface Outcome {
  seed: number;
  fault: Error | undefined;
  /** What led to the fault, one line each. */
  story: string[];
  fingerprint: string;
  counts: Map<string, number>;
  /** Virtual milliseconds. */
  lasted: number;
  steps: number;
}

export interface Options {
  kind?: RecordOptions["kind"];
  mutant?: Mutant | undefined;
}

const SLICE_MS = 500;
/** By then everything that nobody hinders any more is done, milliseconds. */
const PATIENCE_MS = 12 * 60_000;

/** One run of everything, as the seed has it. */
export async function simulate(
  seed: number,
  { kind = "twin", mutant }: Options = {},
): Promise<Outcome> {
  const world = await World.create(seed, kind, mutant);
  const { kernel, story } = world;
  const onRejection = (error: unknown): void => kernel.fail(error as Error);
  process.on("unhandledRejection", onRejection);
  try {
    await world.begin();
    await whileBusy(world);
    await untilSettled(world);
    if (kernel.fault === undefined) {
      for (const session of world.sessions) await checkEnd(world, session);
    }
  } finally {
    process.off("unhandledRejection", onRejection);
    await world.record.close();
  }
  return {
    seed,
    fault: kernel.fault,
    story: kernel.fault === undefined ? [] : story.of(world.faultOf ?? world.sessions[0]?.id),
    fingerprint: story.fingerprint,
    counts: world.summary(),
    lasted: kernel.now,
    steps: kernel.steps,
  };
}

async function whileBusy(world: World): Promise<void> {
  const { kernel } = world;
  const until = world.plan.faults.until + PATIENCE_MS;
  while (world.isBusy && kernel.fault === undefined) {
    await slice(world);
    if (kernel.now > until) world.fail(world.sessions[0]?.id ?? "", "devices never come to an end");
  }
}

async function untilSettled(world: World): Promise<void> {
  const { kernel } = world;
  const until = kernel.now + PATIENCE_MS;
  while (kernel.fault === undefined) {
    await slice(world);
    const open: { id: string; why: string }[] = [];
    for (const session of world.sessions) {
      const why = await openWork(world, session);
      if (why !== undefined) open.push({ id: session.id, why });
    }
    const [first] = open;
    if (first === undefined) return;
    if (kernel.now > until) world.fail(first.id, `it does not come to an end: ${first.why}`);
  }
}

async function slice(world: World): Promise<void> {
  const { kernel } = world;
  await kernel.run(kernel.now + SLICE_MS);
  if (kernel.fault !== undefined) return;
  for (const session of world.sessions) {
    await checkRedactions(world, session);
    await checkDeletion(world, session);
  }
}
