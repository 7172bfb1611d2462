const MEGA = 1_000_000;

/** "12.3 MB", and from ten on without a fraction. */
export function megabytes(bytes: number): string {
  return `${(bytes / MEGA).toFixed(bytes < 10 * MEGA ? 1 : 0)} MB`;
}

/** "1 file", "2 files". */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
