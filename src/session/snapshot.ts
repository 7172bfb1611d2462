import { AppError } from "../base/errors.ts";
import type { SessionState } from "./state.ts";
import { isLate, type Timeline } from "./timeline.ts";

/** Lifts a stored state of one version to the next. Pure: may change what it is given. */
export type SnapshotUpgrade = (stored: unknown) => unknown;

/**
 * The first lifts version 1 to 2, and so on. A change of SessionState's shape
 * that older snapshots do not fit adds one here, and a golden file of the new
 * version to test/unit/session/golden.
 */
const UPGRADES: readonly SnapshotUpgrade[] = [withRedactions, withHeard, withLate];

/** The first release knew no redactions and no second attempts. */
function withRedactions(stored: unknown): unknown {
  const state = stored as { attempt: number };
  return { attempts: state.attempt, redactions: [], ...state };
}

/** Nobody noted whether a chunk could be read: one that came to its end is taken for that. */
function withHeard(stored: unknown): unknown {
  const state = stored as { timeline: Timeline };
  const { next, open, gaps } = state.timeline;
  return { heard: next - open.length - gaps.length > 0, ...state };
}

/** Late chunks waited for none, and nobody noted how far whole chunks were read. */
function withLate(stored: unknown): unknown {
  const state = stored as { checkpoint: number; timeline: Omit<Timeline, "finalTo"> };
  const { checkpoint, timeline } = state;
  const gaps = timeline.gaps.map((gap) => (isLate(gap) ? { ...gap, due: true } : gap));
  return { ...state, timeline: { finalTo: checkpoint, ...timeline, gaps } };
}

/** Version of SessionState as it is stored. */
export const SNAPSHOT_VERSION = UPGRADES.length + 1;

/** Lifts a stored state to the running version. Throws `internal` for a newer one. */
export function upgradeSnapshot(version: number, stored: unknown): SessionState {
  return upgradeThrough(UPGRADES, version, stored) as SessionState;
}

/** Throws `internal` when `version` is not one that `upgrades` leads from or to. */
export function upgradeThrough(
  upgrades: readonly SnapshotUpgrade[],
  version: number,
  stored: unknown,
): unknown {
  const current = upgrades.length + 1;
  if (!Number.isInteger(version) || version < 1) {
    throw new AppError("internal", `There is no snapshot version ${version}.`);
  }
  if (version > current) {
    throw new AppError(
      "internal",
      `A snapshot of version ${version} was written by a newer release than this one, which knows ${current}.`,
    );
  }
  return upgrades.slice(version - 1).reduce((state, upgrade) => upgrade(state), stored);
}
