/** `840 kB`, `12.5 MB`. */
export function sized(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const MEGA = 1_000_000;

/** Bytes in MB, one place behind the point below ten. */
export function megabytes(bytes: number): string {
  return (bytes / MEGA).toFixed(bytes < 10 * MEGA ? 1 : 0);
}
