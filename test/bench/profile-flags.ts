import { chmodSync, mkdirSync } from "node:fs";

/** `BENCH_PROFILE=DIR`, which `--profile` sets, writes a CPU profile of our process there. */
export function profileFlags(): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

/** The same for processes that others start, and their threads. */
export function profileEnvironment(): { folder: string | undefined; env: NodeJS.ProcessEnv } {
  const folder = process.env.BENCH_PROFILE;
  if (folder === undefined) return { folder, env: {} };
  mkdirSync(folder, { recursive: true });
  // Started by root, the parts run as other users.
  chmodSync(folder, 0o777);
  return { folder, env: { NODE_OPTIONS: profileFlags().join(" ") } };
}
