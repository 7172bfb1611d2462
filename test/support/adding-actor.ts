import { Activation, type ActivationOptions } from "../../src/actor/activation.ts";
import type { Behaviour } from "../../src/actor/actor.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";

export interface Sum {
  sum: number;
  steps?: number[];
}

/** Adds up what it is told; 7 counts once. */
export const adding: Behaviour<Sum, number, never, number> = {
  initial: () => ({ sum: 0 }),
  apply(state, event) {
    state.sum += event;
    state.steps = [...(state.steps ?? []), event];
  },
  decide(state, command) {
    adding.apply(state, command, 0);
    return { events: [command], writes: [], reply: state.sum };
  },
  hasWork: () => true,
  isRepeatable: (command) => command !== 7,
  deadline: () => undefined,
  snapshotVersion: 1,
  pack: (state) => state,
  unpack: (packed) => packed as Sum,
};

type Parts = ActivationOptions<Sum, number, never, number>;

/** An adding actor that is active. */
export async function addUp(
  id: string,
  parts: Partial<Parts> & Pick<Parts, "journal">,
): Promise<Activation<Sum, number, never, number>> {
  const activation = new Activation<Sum, number, never, number>(id, {
    behaviour: adding,
    createEffects: () => [],
    runtime: systemRuntime,
    log: silentLog,
    mailboxCapacity: 10,
    batchSize: 10,
    snapshotEvery: 100,
    appendAttempts: 1,
    onFailed: () => {},
    onRefused: () => {},
    ...parts,
  });
  await activation.start();
  return activation;
}
