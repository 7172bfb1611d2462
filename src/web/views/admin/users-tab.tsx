import { UserPlus, UserRound, UserX } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import type { User } from "../../api/records.ts";
import { Choice, named } from "../../parts/fields.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordRow } from "../../parts/record-row.tsx";
import { NothingFits } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { ROLES } from "./roles.ts";
import { DisableDialog, EditUserDialog, NewUserDialog } from "./user-dialogs.tsx";

const PAGE = 50;

interface Filters {
  readonly words: string;
  readonly role: "" | User["role"];
  readonly state: "" | "active" | "disabled";
}

const NONE: Filters = { words: "", role: "", state: "" };

type Asked =
  | { readonly kind: "new" }
  | { readonly kind: "edit" | "disable"; readonly user: User }
  | undefined;

/** Everybody with an account: who they are, what their role lets them, and whether they may sign in. */
export function UsersTab(): VNode {
  const [filters, setFilters] = useState(NONE);
  const [asked, ask] = useState<Asked>();
  const list = usePages<User>((cursor) => page(filters, cursor), [filters]);
  const close = () => ask(undefined);
  return (
    <div class="stack">
      <div class="row admin-filters">
        <FilterBar filters={filters} onChange={setFilters} />
        <button type="button" class="button primary push" onClick={() => ask({ kind: "new" })}>
          <UserPlus size={17} aria-hidden="true" /> New user
        </button>
      </div>
      <PageList
        list={list}
        what="users"
        label="Users"
        empty={<NothingFits title="Nobody fits" onAll={() => setFilters(NONE)} />}
      >
        {(user) => <UserRow user={user} ask={(kind) => ask({ kind, user })} />}
      </PageList>
      {asked?.kind === "new" && <NewUserDialog onClose={close} onMade={list.put} />}
      {asked?.kind === "edit" && (
        <EditUserDialog user={asked.user} onClose={close} onSaved={list.put} />
      )}
      {asked?.kind === "disable" && (
        <DisableDialog user={asked.user} onClose={close} onChanged={list.reload} />
      )}
    </div>
  );
}

async function page({ words, role, state }: Filters, cursor: string | undefined) {
  const query = {
    limit: PAGE,
    q: words || undefined,
    role: role || undefined,
    ...(state === "" ? {} : { disabled: state === "disabled" }),
    cursor,
  };
  const answer = await call((api) => api.GET("/users", { params: { query } }));
  // Administrators, and nobody else comes here, get whole records.
  return { ...answer, items: answer.items as User[] };
}

interface FilterProps {
  filters: Filters;
  onChange: (filters: Filters) => void;
}

function FilterBar({ filters, onChange }: FilterProps): VNode {
  return (
    <>
      <form
        class="filter admin-search"
        onSubmit={(event) => {
          event.preventDefault();
          const words = String(new FormData(event.currentTarget).get("words")).trim();
          onChange({ ...filters, words });
        }}
      >
        <input
          class="input"
          type="search"
          name="words"
          aria-label="Name or address"
          placeholder="Name or address"
          onChange={({ currentTarget }) =>
            onChange({ ...filters, words: currentTarget.value.trim() })
          }
        />
      </form>
      <Choice
        class="input filter"
        aria-label="Role"
        value={filters.role}
        of={[{ id: "", name: "Any role" }, ...named(ROLES)]}
        onChoose={(role) => onChange({ ...filters, role })}
      />
      <Choice
        class="input filter"
        aria-label="State"
        value={filters.state}
        of={[
          { id: "", name: "Enabled or not" },
          { id: "active", name: "Enabled" },
          { id: "disabled", name: "Disabled" },
        ]}
        onChoose={(state) => onChange({ ...filters, state })}
      />
    </>
  );
}

function UserRow({ user, ask }: { user: User; ask: (kind: "edit" | "disable") => void }): VNode {
  const { id, name, email, role, disabled, disabled_at: since, created_at: made } = user;
  const isOneself = account.value?.id === id;
  const Icon = disabled ? UserX : UserRound;
  return (
    <RecordRow
      icon={<Icon size={18} aria-hidden="true" />}
      title={name || email}
      chips={
        <>
          <span class="chip" data-tone={role === "admin" ? "warn" : undefined}>
            {role}
          </span>
          {disabled && (
            <span class="chip" data-tone="danger">
              disabled
            </span>
          )}
          {isOneself && <span class="chip">you</span>}
        </>
      }
      facts={[
        name === "" ? "" : email,
        `since ${momentOf(made)}`,
        since === undefined ? "" : `disabled ${momentOf(since)}`,
      ]}
      actions={
        <>
          <button
            type="button"
            class="button"
            aria-label={`Edit ${name || email}`}
            onClick={() => ask("edit")}
          >
            Edit
          </button>
          {!isOneself && (
            <button
              type="button"
              class={disabled ? "button" : "button danger"}
              aria-label={`${disabled ? "Enable" : "Disable"} ${name || email}`}
              onClick={() => ask("disable")}
            >
              {disabled ? "Enable" : "Disable"}
            </button>
          )}
        </>
      }
    />
  );
}
