/** What a reason opens: one session, the sessions of a workspace, or with neither all. */
export interface ElevationScope {
  readonly session_id?: string;
  readonly workspace_id?: string;
}

/** An administrator's reason to see content, for a while. */
export interface Elevation {
  readonly id: string;
  readonly reason: string;
  /** By this page's clock, Unix milliseconds. */
  readonly until: number;
  readonly place: ElevationScope;
}

/** Those that are in force at `now`, the one that ends first in front. */
export function activeOf(all: readonly Elevation[], now: number): readonly Elevation[] {
  return all.filter(({ until }) => until > now).toSorted((a, b) => a.until - b.until);
}

/** True when the reason opens this session, or all of this workspace. */
export function covers({ place }: Elevation, wanted: ElevationScope): boolean {
  if (place.session_id !== undefined) return place.session_id === wanted.session_id;
  if (place.workspace_id !== undefined) return place.workspace_id === wanted.workspace_id;
  return true;
}
