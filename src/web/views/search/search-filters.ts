import type { Session } from "../../api/records.ts";

type Status = Session["status"];

/** What somebody looks for over all sessions; "" and [] ask for nothing. Days are local, `2026-01-31`. */
export interface SearchFilters {
  /** Said in the session, or of its title. */
  readonly words: string;
  /** A part of the name of whoever spoke. */
  readonly speaker: string;
  /** The first and the last day. */
  readonly from: string;
  readonly to: string;
  readonly tags: readonly string[];
  readonly status: "" | Status;
  readonly deviceId: string;
  readonly workspaceId: string;
}

export const NO_FILTERS: SearchFilters = {
  ...{ words: "", speaker: "", from: "", to: "", tags: [] },
  ...{ status: "", deviceId: "", workspaceId: "" },
};

export const STATUSES: readonly { id: SearchFilters["status"]; name: string }[] = [
  { id: "", name: "Any state" },
  { id: "recording", name: "Live" },
  { id: "processing", name: "Being finished" },
  { id: "completed", name: "Completed" },
  { id: "failed", name: "Failed" },
];

const KEYS = /^(words|speaker|from|to|tag|status|device|workspace)=/;
const DAY = /^\d{4}-\d\d-\d\d$/;
/** As many as the service takes. */
const MOST_TAGS = 20;

/** The route of the page that shows what fits. It stands behind the `#`: no server sees the words. */
export function routeOf(filters: SearchFilters): string {
  const { words, speaker, from, to, tags, status, deviceId, workspaceId } = filters;
  const named = { words, speaker, from, to, status, device: deviceId, workspace: workspaceId };
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(named)) if (value !== "") params.set(key, value);
  for (const tag of tags) params.append("tag", tag);
  const text = params.toString();
  // The router takes one layer of escapes off before it looks for parts.
  return text === "" ? "/search" : `/search/${encodeURI(text)}`;
}

/** The filters of such a route; anything else is words, and what makes no sense asks for nothing. */
export function filtersOf(text: string): SearchFilters {
  if (!KEYS.test(text)) return { ...NO_FILTERS, words: decoded(text).trim() };
  const params = new URLSearchParams(text);
  const one = (key: string) => params.get(key)?.trim() ?? "";
  const day = (key: string) => (DAY.test(one(key)) ? one(key) : "");
  const tags = params.getAll("tag").map((tag) => tag.trim());
  return {
    ...{ words: one("words"), speaker: one("speaker"), from: day("from"), to: day("to") },
    tags: [...new Set(tags)].filter((tag) => tag !== "").slice(0, MOST_TAGS),
    status: STATUSES.find(({ id }) => id === one("status"))?.id ?? "",
    ...{ deviceId: one("device"), workspaceId: one("workspace") },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What the service is asked, apart from the words: members that ask for nothing are left out. */
export function filterQueryOf(filters: SearchFilters) {
  const { speaker, from, to, tags, status, deviceId, workspaceId } = filters;
  return {
    ...(speaker === "" ? {} : { speaker }),
    ...(from === "" ? {} : { from: startOf(from, 0) }),
    ...(to === "" ? {} : { to: startOf(to, 1) }),
    ...(tags.length === 0 ? {} : { tag: [...tags] }),
    ...(status === "" ? {} : { status }),
    ...(deviceId === "" ? {} : { device_id: deviceId }),
    ...(workspaceId === "" ? {} : { workspace_id: workspaceId }),
  };
}

/** When the day begins here, or the one so many days later. */
function startOf(day: string, later: number): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later).toISOString();
}

export interface FilterChip {
  readonly label: string;
  /** What is left without it. */
  readonly rest: SearchFilters;
}

/** Each thing that is asked for, apart from the words, to be taken away by itself. */
export function chipsOf(
  filters: SearchFilters,
  names: ReadonlyMap<string, string>,
): readonly FilterChip[] {
  const { speaker, from, to, tags, status, deviceId, workspaceId } = filters;
  const without = (change: Partial<SearchFilters>) => ({ ...filters, ...change });
  const state = STATUSES.find(({ id }) => id === status)?.name ?? "";
  const named = (id: string) => names.get(id) ?? "one that you do not see";
  const all: readonly (FilterChip & { value: string })[] = [
    { value: speaker, label: `Speaker: ${speaker}`, rest: without({ speaker: "" }) },
    { value: from, label: `From ${from}`, rest: without({ from: "" }) },
    { value: to, label: `Until ${to}`, rest: without({ to: "" }) },
    ...tags.map((tag) => ({
      ...{ value: tag, label: `Tag: ${tag}` },
      rest: without({ tags: tags.filter((each) => each !== tag) }),
    })),
    { value: status, label: `State: ${state}`, rest: without({ status: "" }) },
    { value: deviceId, label: `Device: ${named(deviceId)}`, rest: without({ deviceId: "" }) },
    {
      value: workspaceId,
      label: `Workspace: ${named(workspaceId)}`,
      rest: without({ workspaceId: "" }),
    },
  ];
  return all.filter(({ value }) => value !== "").map(({ label, rest }) => ({ label, rest }));
}
