/**
 * How the owner of sessions is put out of action. stop: SIGSTOP until the other has everything.
 * The rest last `cutMs`: without PostgreSQL, reset and refused, or silent (what was sent arrives
 * afterwards).
 */
export const FENCE_FAULTS = ["stop", "postgres", "postgres-silent"] as const;

export type FenceFault = (typeof FENCE_FAULTS)[number];

export type FenceCut = Exclude<FenceFault, "stop">;
