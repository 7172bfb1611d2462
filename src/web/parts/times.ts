const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** `Today, 14:05`, `Yesterday, 09:30` or `12 Mar 2026, 09:30`. */
export function momentOf(timestamp: string, now = new Date()): string {
  const at = new Date(timestamp);
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (DAY.format(at) === DAY.format(now)) return `Today, ${CLOCK.format(at)}`;
  if (DAY.format(at) === DAY.format(yesterday)) return `Yesterday, ${CLOCK.format(at)}`;
  return MOMENT.format(at);
}

/** `42 s`, `12 min`, `1 h 05 min`. */
export function lengthOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** `just now`, `5 min ago`, `3 h ago`, and from a day on the moment itself. */
export function agoOf(timestamp: string, now = new Date()): string {
  const ms = now.getTime() - Date.parse(timestamp);
  // Clocks of page and service differ a little.
  if (ms < MINUTE_MS) return "just now";
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  if (ms < 24 * HOUR_MS) return `${Math.floor(ms / HOUR_MS)} h ago`;
  return momentOf(timestamp, now);
}

/** How long something goes on: `less than a minute left`, `about 5 min left`, `about 1 h 05 min left`. */
export function leftOf(ms: number): string {
  return ms < MINUTE_MS ? "less than a minute left" : `about ${lengthOf(ms)} left`;
}
