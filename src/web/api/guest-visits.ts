/**
 * Sessions that this browser is a guest of, by what led there. It holds no secret: a cookie, which no
 * script can read, makes the browser the same guest again.
 */
const KEY = "voice.guest-of";
/** Older visits are forgotten first. */
const MOST = 20;

interface Visit {
  /** The session's id, or the guest code that was used. */
  readonly door: string;
  readonly sessionId: string;
}

/** The session that this browser joined by that id or code, as far as it knows. */
export function visitedSession(door: string): string | undefined {
  return visits().find((each) => each.door === door || each.sessionId === door)?.sessionId;
}

export function saveVisit(visit: Visit): void {
  const others = visits().filter(({ door }) => door !== visit.door);
  store([visit, ...others].slice(0, MOST));
}

export function forgetVisits(sessionId: string): void {
  store(visits().filter((each) => each.sessionId !== sessionId));
}

function visits(): Visit[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter(isVisit) : [];
  } catch {
    return [];
  }
}

function isVisit(value: unknown): value is Visit {
  const { door, sessionId } = (value ?? {}) as Record<string, unknown>;
  return typeof door === "string" && typeof sessionId === "string";
}

function store(wanted: readonly Visit[]): void {
  try {
    if (wanted.length === 0) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(wanted));
  } catch {
    // A browser that keeps nothing asks for a name again when the page is loaded anew.
  }
}
