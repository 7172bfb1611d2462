/**
 * How the owner of sessions is put out of action. stop: SIGSTOP until the other has everything.
 * The rest last `cutMs`, over connections of its own: without NATS (reset and refused, or all
 * silent), without PostgreSQL (silent; what was sent arrives afterwards), without both.
 */
export const FENCE_FAULTS = ["stop", "nats", "nats-silent", "postgres", "both"] as const;

export type FenceFault = (typeof FENCE_FAULTS)[number];

export type FenceCut = Exclude<FenceFault, "stop">;
