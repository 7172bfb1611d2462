/** What to do about an upload that did not get through. */
type NextStep =
  /** The same once more, after a pause. */
  | { readonly kind: "again"; readonly away: "network" | "service" }
  /** At once: another request for the file is just ending. */
  | { readonly kind: "soon" }
  /** Its person has to sign in once more. */
  | { readonly kind: "sign-in" }
  /** From the beginning, into another session: the service has forgotten this one. */
  | { readonly kind: "anew" }
  | { readonly kind: "fail" };

const PASSING = new Set([408, 425, 429]);
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/**
 * @param status of the answer, 0 where none came
 * @param code of the service's closed list, or ""
 */
export function nextStep({ status, code }: { status: number; code: string }): NextStep {
  if (status === 0) return { kind: "again", away: "network" };
  if (status === 423) return { kind: "soon" };
  if (status >= 500 || PASSING.has(status)) return { kind: "again", away: "service" };
  if (status === 401) return { kind: "sign-in" };
  if (status === 404 || status === 410 || code === "session_ended") return { kind: "anew" };
  // The service has another number of bytes than we thought: asked again it says how many.
  if (status === 409) return { kind: "soon" };
  return { kind: "fail" };
}

/**
 * How long to wait after so many attempts that brought nothing, milliseconds: growing up to half a
 * minute.
 *
 * @param chance 0 to 1: not everybody comes back at the same moment
 */
export function pauseMs(fruitless: number, chance: number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, fruitless - 1));
  return longest / 2 + (chance * longest) / 2;
}
