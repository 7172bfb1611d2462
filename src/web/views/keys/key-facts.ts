import type { ServiceKey } from "../../api/records.ts";

export type Scope = ServiceKey["scopes"][number];

/** What each scope lets a program do, in the words of whoever gives it. */
export const SCOPES: Readonly<Record<Scope, string>> = {
  "sessions:read": "Read sessions, their words, summaries and the live channel",
  "sessions:write": "Change, stop and delete sessions",
  "sessions:share": "Decide who else sees a session",
  query: "Ask questions, and have summaries made",
  export: "Fetch transcripts as files, and the sound",
  webhooks: "Manage webhooks",
  transcribe: "Transcribe with the clients of OpenAI and Deepgram",
};

export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[];

/** For how long a key may live, in days. */
export const LIFETIMES: readonly { readonly id: number; readonly name: string }[] = [
  { id: 30, name: "30 days" },
  { id: 90, name: "90 days" },
  { id: 365, name: "1 year" },
  // The longest is two years to the millisecond, by the service's clock.
  { id: 729, name: "2 years, less a day" },
];

const DAY_MS = 24 * 3_600_000;

/** The moment so many days from now, as the interface takes it. */
export function inDays(days: number, now = Date.now()): string {
  return new Date(now + days * DAY_MS).toISOString();
}

const SOON_DAYS = 14;

interface Status {
  readonly label: string;
  readonly tone: "good" | "warn" | "danger" | undefined;
}

/** Whether the key opens anything, and for how long still where that is not long. */
export function statusOf(
  { status, expires_at: end }: Pick<ServiceKey, "status" | "expires_at">,
  now = Date.now(),
): Status {
  if (status === "expired") return { label: "Expired", tone: undefined };
  if (status === "suspended") return { label: "Suspended", tone: "danger" };
  const days = Math.ceil((Date.parse(end) - now) / DAY_MS);
  if (days > SOON_DAYS) return { label: "Active", tone: "good" };
  return { label: days <= 1 ? "Ends within a day" : `Ends in ${days} days`, tone: "warn" };
}
