import { AppError } from "../base/errors.ts";
import type { SessionState } from "./state.ts";

/** Version of SessionState as it is stored. A change of shape raises it and adds an upgrade. */
export const SNAPSHOT_VERSION = 1;

/** From the version that is its index + 1 to the next. */
const UPGRADES: ((state: unknown) => unknown)[] = [];

/** Lifts a stored state to the running version. Throws `internal` for a newer one. */
export function upgradeSnapshot(version: number, stored: unknown): SessionState {
  if (version > SNAPSHOT_VERSION) {
    throw new AppError(
      "internal",
      `A snapshot of version ${version} was written by a newer release than this one.`,
    );
  }
  const upgrades = UPGRADES.slice(version - 1);
  return upgrades.reduce((state, upgrade) => upgrade(state), stored) as SessionState;
}
