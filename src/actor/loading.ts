import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Behaviour } from "./actor.ts";
import type { Journal, Loaded } from "./journal.ts";

type Replay<S, E, W, C> = Pick<Behaviour<S, E, W, C>, "initial" | "unpack" | "apply">;

interface Source<S, E, W, C> {
  id: string;
  behaviour: Replay<S, E, W, C>;
  journal: Pick<Journal<E, W>, "load">;
  log: Log;
}

/** Throws what the behaviour throws. */
function replay<S, E, W, C>(
  id: string,
  behaviour: Replay<S, E, W, C>,
  { snapshot, events }: Loaded<E>,
): S {
  const state = snapshot === undefined ? behaviour.initial(id) : behaviour.unpack(snapshot.state);
  for (const { event, at } of events) behaviour.apply(state, event, at);
  return state;
}

/**
 * Restores the state on record. Snapshots only save time: one that this release cannot read is
 * ignored, because every event is kept.
 */
export async function stateOf<S, E, W, C>(
  { id, behaviour, journal, log }: Source<S, E, W, C>,
  loaded: Loaded<E>,
): Promise<S> {
  try {
    return replay(id, behaviour, loaded);
  } catch (error) {
    const { snapshot } = loaded;
    if (snapshot === undefined) throw error;
    log.warn({ seq: snapshot.seq, error: errorMessage(error) }, "snapshot not readable");
    const whole = await journal.load(id, "beginning");
    if (whole === undefined) throw error;
    // Events that another activation has appended since do not belong to this one.
    const events = whole.events.filter(({ seq }) => seq <= loaded.seq);
    return replay(id, behaviour, { ...whole, events });
  }
}

/** Gives `live`, to which others hold references, the content of `state`. Both are plain data. */
export function become<S>(live: S, state: S): void {
  const [to, from] = [live as Record<string, unknown>, state as Record<string, unknown>];
  for (const name of Object.keys(to)) if (!(name in from)) delete to[name];
  Object.assign(to, from);
}
