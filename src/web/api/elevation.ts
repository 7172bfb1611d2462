import { effect, signal } from "@preact/signals";
import { account } from "./account.ts";
import { call } from "./client.ts";
import { activeOf, covers, type Elevation, type ElevationScope } from "./elevation-record.ts";

const MINUTE = 60_000;
/** Longest time that the service gives. */
const LONGEST_MS = 240 * MINUTE;

/** The reasons of this administrator that are in force, the one that ends first in front. */
export const elevations = signal<readonly Elevation[]>([]);

/** Rises whenever one ends: what only it opened must go from the page. */
export const elevationsEnded = signal(0);

let timer: ReturnType<typeof setTimeout> | undefined;
let of: string | undefined;

effect(() => {
  const who = account.value;
  const admin = who?.kind === "user" && who.role === "admin" ? who.id : undefined;
  if (admin === of) return;
  of = admin;
  keep([]);
  // A page that was loaded anew finds those that it had opened before; without them it works as well.
  if (admin !== undefined) void recall(admin).catch(() => undefined);
});

/** Opens content for a while. Throws `ApiError`. */
export async function elevate(
  reason: string,
  place: ElevationScope,
  minutes: number,
): Promise<void> {
  // Counted from before the answer by this clock, which need not agree with the service's.
  const until = Date.now() + minutes * MINUTE;
  const made = await call((api) =>
    api.POST("/admin/content-elevate", { body: { reason, ...place, duration_minutes: minutes } }),
  );
  keep([...elevations.value, { id: made.elevation_id, reason, until, place }]);
}

/** Ends one before its time, for the service and here. Throws `ApiError`. */
export async function endElevation(id: string): Promise<void> {
  await call((api) =>
    api.DELETE("/admin/content-elevate/{elevation_id}", {
      params: { path: { elevation_id: id } },
    }),
  );
  keep(elevations.value.filter((each) => each.id !== id));
}

/** True when one that the page knows of opens the place. */
export function isElevated(place: ElevationScope): boolean {
  return elevations.value.some((each) => covers(each, place));
}

function keep(next: readonly Elevation[]): void {
  clearTimeout(timer);
  const before = elevations.peek();
  const now = activeOf(next, Date.now());
  elevations.value = now;
  if (before.some(({ id }) => !now.some((each) => each.id === id))) elevationsEnded.value += 1;
  const first = now[0];
  if (first === undefined) return;
  timer = setTimeout(() => keep(elevations.value), Math.max(0, first.until - Date.now()) + 50);
}

async function recall(admin: string): Promise<void> {
  const from = new Date(Date.now() - LONGEST_MS).toISOString();
  const page = (kind: "content_elevated" | "content_elevation_ended", actor?: string) =>
    call((api) =>
      api.GET("/admin/audit", {
        params: {
          query: { kind, from, limit: 100, ...(actor === undefined ? {} : { actor_id: actor }) },
        },
      }),
    );
  const [opened, ended] = await Promise.all([
    page("content_elevated", admin),
    page("content_elevation_ended"),
  ]);
  if (of !== admin) return;
  const over = new Set(ended.items.map((entry) => entry.subject_id));
  const found = opened.items.flatMap((entry): Elevation[] => {
    const { subject_id: id, session_id, workspace_id, detail } = entry;
    if (id === undefined || over.has(id)) return [];
    const place = {
      ...(session_id === undefined ? {} : { session_id }),
      ...(workspace_id === undefined ? {} : { workspace_id }),
    };
    return [
      { id, place, reason: String(detail.reason), until: Date.parse(String(detail.expires_at)) },
    ];
  });
  const known = new Set(elevations.value.map(({ id }) => id));
  keep([...elevations.value, ...found.filter(({ id }) => !known.has(id))]);
}
