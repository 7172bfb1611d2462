/** `BENCH_PROFILE=DIR`, which `--profile` sets, writes a CPU profile of our process there. */
export function profileFlags(): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

/** The same for processes that others start, and their threads. */
export function profileEnvironment(): { folder: string | undefined; env: NodeJS.ProcessEnv } {
  const flags = profileFlags();
  const env = flags.length === 0 ? {} : { NODE_OPTIONS: flags.join(" ") };
  return { folder: process.env.BENCH_PROFILE, env };
}
