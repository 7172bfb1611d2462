import type { VNode } from "preact";
import { Link, useLocation } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { Device, Hit, Session, Workspace } from "../../api/records.ts";
import { MoreButton } from "../../parts/page-list.tsx";
import { useResource } from "../../parts/resource.ts";
import { Awaited, Empty } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { SessionList } from "../session-list/session-list.tsx";
import { FilterChips, FilterForm } from "./filter-form.tsx";
import { HitList } from "./hit-list.tsx";
import { ListKeys } from "./list-keys.tsx";
import {
  chipsOf,
  type FilterChip,
  filterQueryOf,
  filtersOf,
  NO_FILTERS,
  routeOf,
  type SearchFilters,
} from "./search-filters.ts";
import "./search.css";

const PAGE = 50;
/** Sessions that are shown for their title beside what was said. */
const MOST_TITLED = 5;
/** As many words as the service looks for in titles, letters. */
const MOST_TITLE = 200;

/** Finds sessions, and moments in them, in all workspaces. What is asked for stands in the address. */
export function View({ params }: { params: { filters?: string } }): VNode {
  const text = params.filters ?? "";
  const filters = filtersOf(text);
  const [, navigate] = useLocation();
  const go = (next: SearchFilters) => navigate(routeOf(next));
  const around = useResource(thingsAround, []);
  const { workspaces, devices } = around.state.kind === "ready" ? around.state.value : NOTHING;
  const found = useResource(() => find(filters), [text]);
  const names = new Map([...workspaces, ...devices].map(({ id, name }) => [id, name]));
  const chips = chipsOf(filters, names);
  const shown = found.state.kind === "ready" ? found.state.value : undefined;
  const tags = [...new Set(shown?.sessions.items.flatMap((each) => each.tags))].sort();
  const clear = () => go({ ...NO_FILTERS, words: filters.words });
  return (
    <ViewFrame title="Search">
      <div class="stack">
        <FilterForm {...{ filters, workspaces, devices, tags }} onChange={go} />
        <FilterChips chips={chips} onChange={go} onClear={clear} />
        <Awaited of={found} what="what was found" />
        {shown !== undefined && (
          <Results
            {...{ filters, workspaces, chips }}
            found={shown}
            onFound={found.set}
            onChange={go}
          />
        )}
      </div>
      <ListKeys />
    </ViewFrame>
  );
}

interface Around {
  readonly workspaces: readonly Workspace[];
  readonly devices: readonly Device[];
}

const NOTHING: Around = { workspaces: [], devices: [] };

/** What one can choose from. Without it the words alone are searched for. */
async function thingsAround(): Promise<Around> {
  const params = { query: { limit: 100 } };
  const [workspaces, devices] = await Promise.all([
    call((api) => api.GET("/workspaces", { params })),
    call((api) => api.GET("/devices", { params })),
  ]);
  return { workspaces: workspaces.items, devices: devices.items };
}

interface Found {
  readonly sessions: Page<Session>;
  /** Undefined where no words were asked for. */
  readonly hits: Page<Hit> | undefined;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
  readonly total?: number | undefined;
}

async function find(filters: SearchFilters): Promise<Found> {
  if (filters.words === "") return { sessions: await sessionsOf(filters), hits: undefined };
  const [sessions, hits] = await Promise.all([sessionsOf(filters), hitsOf(filters)]);
  return { sessions, hits };
}

/** Without words all that fit, else those whose title has them. */
function sessionsOf(filters: SearchFilters, cursor?: string): Promise<Page<Session>> {
  const title = filters.words.slice(0, MOST_TITLE);
  const asked = title === "" ? { limit: PAGE } : { title, limit: MOST_TITLED };
  const query = { ...filterQueryOf(filters), ...asked, count: true, ...pageAt(cursor) };
  return call((api) => api.GET("/sessions", { params: { query } }));
}

function hitsOf(filters: SearchFilters, cursor?: string): Promise<Page<Hit>> {
  const asked = { q: filters.words, limit: PAGE, count: true };
  const query = { ...filterQueryOf(filters), ...asked, ...pageAt(cursor) };
  return call((api) => api.GET("/search", { params: { query } }));
}

function pageAt(cursor: string | undefined) {
  return cursor === undefined ? {} : { cursor };
}

function joined<T>(before: Page<T>, next: Page<T>): Page<T> {
  return { ...next, items: [...before.items, ...next.items] };
}

interface ResultsProps {
  filters: SearchFilters;
  workspaces: readonly Workspace[];
  chips: readonly FilterChip[];
  found: Found;
  onFound: (found: Found) => void;
  onChange: (filters: SearchFilters) => void;
}

function Results(props: ResultsProps): VNode {
  const { filters, workspaces, found, onFound } = props;
  const { sessions, hits } = found;
  const moreSessions = async () => {
    const next = await sessionsOf(filters, sessions.next_cursor ?? undefined);
    onFound({ ...found, sessions: joined(sessions, next) });
  };
  const moreHits = async () => {
    if (hits === undefined) return;
    const next = await hitsOf(filters, hits.next_cursor ?? undefined);
    onFound({ ...found, hits: joined(hits, next) });
  };
  const isNothing = sessions.items.length === 0 && (hits?.items.length ?? 0) === 0;
  return (
    <>
      <p class="soft small" role="status">
        {countsOf(found)}
      </p>
      {isNothing && <NothingFound {...props} />}
      {sessions.items.length > 0 && (
        <>
          <SessionList
            sessions={sessions.items}
            workspaces={workspaces}
            {...(hits === undefined ? {} : { heading: "Of this title" })}
          />
          <MoreButton more={sessions.next_cursor === null ? undefined : moreSessions} />
        </>
      )}
      {hits !== undefined && hits.items.length > 0 && (
        <section aria-labelledby="said">
          <h2 id="said">Said</h2>
          <HitList hits={hits.items} />
          <MoreButton
            more={hits.next_cursor === null ? undefined : moreHits}
            label="Show more moments"
          />
        </section>
      )}
    </>
  );
}

/** What the service does not count further. */
const MOST_COUNTED = 10_000;

function countsOf({ sessions, hits }: Found): string {
  const titled = counted(sessions, "session");
  return hits === undefined ? titled : `${counted(hits, "moment")}, ${titled} of this title`;
}

function counted({ items, total = items.length }: Page<unknown>, what: string): string {
  if (total >= MOST_COUNTED) return `${MOST_COUNTED.toLocaleString()} ${what}s or more`;
  return total === 1 ? `1 ${what}` : `${total.toLocaleString()} ${what}s`;
}

/** Says what to change, and does it with one press. */
function NothingFound({ filters, chips, onChange }: ResultsProps): VNode {
  const { words } = filters;
  const title = words === "" ? "No session fits" : `Nobody said “${words}”`;
  const isAll = words === "" && chips.length === 0;
  if (isAll) {
    const record = (
      <Link class="button primary" href="/record">
        Record the first
      </Link>
    );
    return <Empty title="You have no sessions yet" next={record} />;
  }
  const ways = (
    <>
      {chips.map(({ label, rest }) => (
        <button key={label} type="button" class="button" onClick={() => onChange(rest)}>
          Without “{label}”
        </button>
      ))}
      {words !== "" && (
        <button type="button" class="button" onClick={() => onChange({ ...filters, words: "" })}>
          {chips.length > 0 ? "Without the words" : "Show all sessions"}
        </button>
      )}
    </>
  );
  return (
    <Empty title={title} next={ways}>
      {words !== "" && <p>Not in what you may read. Try fewer words, or one without its ending.</p>}
    </Empty>
  );
}
