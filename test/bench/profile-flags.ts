/** `BENCH_PROFILE=DIR` writes a CPU profile of our process there. */
export function profileFlags(): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}
