import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { AuditEntry } from "../../api/records.ts";
import { MoreButton } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { useResource } from "../../parts/resource.ts";
import { Awaited, NothingFits } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { AuditFilterBar, type AuditFilters, NO_FILTERS } from "./audit-filters.tsx";
import { AuditProof } from "./audit-proof.tsx";
import { Facts } from "./facts.tsx";
import { idIn } from "./fields.ts";

const PAGE = 50;

type Names = ReadonlyMap<string, string>;

/** What was done, by whom and when; and the proof that nothing of it was changed since. */
export function AuditTab(): VNode {
  const [filters, setFilters] = useState(NO_FILTERS);
  const { state, items, reload, more } = usePages<AuditEntry>(
    (cursor) => page(filters, cursor),
    [filters],
  );
  const names = useNames();
  return (
    <div class="stack">
      <AuditProof />
      <AuditFilterBar filters={filters} onChange={setFilters} />
      <Awaited of={{ state, reload }} what="the audit log" lines={7} />
      {state.kind === "ready" && items.length === 0 && (
        <NothingFits title="No entry fits" onAll={() => setFilters(NO_FILTERS)} />
      )}
      {items.length > 0 && (
        <ol class="record-list audit-list" aria-label="Entries, the newest first">
          {items.map((entry) => (
            <Entry key={entry.id} entry={entry} names={names} />
          ))}
        </ol>
      )}
      <MoreButton more={more} label="Show older ones" />
    </div>
  );
}

function page(filters: AuditFilters, cursor: string | undefined) {
  const { kind, actor, session, from, to } = filters;
  const query = {
    limit: PAGE,
    kind: kind || undefined,
    ...(actor === "" ? {} : { actor_id: idIn(actor) }),
    ...(session === "" ? {} : { session_id: idIn(session) }),
    ...(from === "" ? {} : { from: new Date(from).toISOString() }),
    ...(to === "" ? {} : { to: new Date(to).toISOString() }),
    cursor,
  };
  return call((api) => api.GET("/admin/audit", { params: { query } }));
}

/** Addresses of the first hundred users, by id, so that entries need not tell ids alone. */
function useNames(): Names {
  const { state } = useResource(
    () => call((api) => api.GET("/users", { params: { query: { limit: 100 } } })),
    [],
  );
  const users = state.kind === "ready" ? state.value.items : [];
  return new Map(users.map(({ id, email }) => [id, email]));
}

/** `content_elevated` as `Content elevated`. */
function spelled(kind: string): string {
  const words = kind.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Entry({ entry, names }: { entry: AuditEntry; names: Names }): VNode {
  const { actor, seq, at, kind } = entry;
  const who = actor.id === undefined ? actor.kind : (names.get(actor.id) ?? actor.kind);
  return (
    <li>
      <details class="audit-entry">
        <summary>
          <span class="audit-seq">{`#${seq}`}</span>
          <strong>{spelled(kind)}</strong>
          <span class="soft small">{`${who}, ${momentOf(at)}`}</span>
        </summary>
        <Facts
          facts={[
            ["When", at],
            [
              "Who",
              `${actor.kind}${actor.id === undefined ? "" : ` ${idAndName(actor.id, names)}`}`,
            ],
            ["Whom or what", entry.subject_id && idAndName(entry.subject_id, names)],
            ["Session", entry.session_id],
            ["Workspace", entry.workspace_id],
            ["From", entry.addresses?.join(", ")],
            ...Object.entries(entry.detail).map(([name, value]): [string, string] => [
              spelled(name),
              typeof value === "string" ? value : JSON.stringify(value),
            ]),
            ["Hash", <code key="hash">{entry.hash}</code>],
          ]}
        />
      </details>
    </li>
  );
}

function idAndName(id: string, names: Names): string {
  const name = names.get(id);
  return name === undefined ? id : `${name} (${id})`;
}
