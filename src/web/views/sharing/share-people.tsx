import { Crown, DoorOpen, Eye, UserRound } from "lucide-preact";
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import type { SessionMember } from "../../api/records.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { Invited, InviteForm } from "../../parts/inviting.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordRow } from "../../parts/record-row.tsx";
import { useRefreshing } from "../../parts/refreshing.ts";
import { momentOf } from "../../parts/times.ts";
import { showToast } from "../../parts/toasts.tsx";
import type { PeopleRights } from "./people-rights.ts";
import type { SharedSession } from "./shared-session.ts";

const PAGE = 50;
const REFRESH_MS = 5_000;

interface PeopleProps {
  model: SharedSession;
  rights: PeopleRights;
  /** Stands between the invitation and the list. */
  children?: ComponentChildren;
}

type Person = SessionMember & { readonly id: string };

/** Invites; and those who belong to the session, guests among them, and those who are invited. */
export function SharePeople({ model, rights, children }: PeopleProps): VNode {
  const list = usePages<Person>((cursor) => page(model, cursor), [model]);
  useRefreshing(list.reload, list.items.length <= PAGE ? REFRESH_MS : undefined);
  const [removing, setRemoving] = useState<Person | undefined>();
  const [invited, setInvited] = useState(0);
  return (
    <>
      {rights.give && <Invite model={model} onInvited={() => setInvited(invited + 1)} />}
      {children}
      <section class="stack" aria-labelledby="people">
        <h3 id="people">People</h3>
        <PageList list={list} what="people" lines={2} label="People of this session">
          {(each) => (
            <PersonRow
              person={each}
              onRemove={mayRemove(each, rights) ? () => setRemoving(each) : undefined}
            />
          )}
        </PageList>
        {rights.takeBack && <SessionInvited key={invited} model={model} />}
      </section>
      {removing && (
        <RemoveDialog
          model={model}
          person={removing}
          onClose={() => setRemoving(undefined)}
          onRemoved={list.reload}
        />
      )}
    </>
  );
}

async function page(model: SharedSession, cursor: string | undefined) {
  const query = { limit: PAGE, cursor };
  const params = { path: { session_id: model.id }, query };
  const answer = await call((api) => api.GET("/sessions/{session_id}/members", { params }));
  return { ...answer, items: answer.items.map((each) => ({ ...each, id: each.user_id })) };
}

function mayRemove({ relation }: Person, { takeBack, removeGuests }: PeopleRights): boolean {
  if (relation === "owner") return false;
  return relation === "guest" ? removeGuests : takeBack;
}

const RELATIONS = {
  owner: { label: "owner", Icon: Crown },
  participant: { label: "took part", Icon: UserRound },
  shared: { label: "reads along", Icon: Eye },
  guest: { label: "guest", Icon: DoorOpen },
} as const;

interface RowProps {
  person: Person;
  onRemove: (() => void) | undefined;
}

function PersonRow({ person, onRemove }: RowProps): VNode {
  const { id, name, email = "", relation, created_at: since } = person;
  const { label, Icon } = RELATIONS[relation];
  const who = name || email;
  return (
    <RecordRow
      icon={<Icon size={17} aria-hidden="true" />}
      title={who}
      chips={
        <>
          <span class="chip">{label}</span>
          {account.value?.id === id && <span class="chip">you</span>}
        </>
      }
      facts={[who === email ? "" : email, `since ${momentOf(since)}`]}
      actions={
        onRemove && (
          <button type="button" class="button" aria-label={`Remove ${who}`} onClick={onRemove}>
            Remove
          </button>
        )
      }
    />
  );
}

interface RemoveProps {
  model: SharedSession;
  person: Person;
  onClose: () => void;
  onRemoved: () => void;
}

function RemoveDialog({ model, person, onClose, onRemoved }: RemoveProps): VNode {
  const isGuest = person.relation === "guest";
  const isOpen = model.session.value?.guest_access === "open";
  const remove = async () => {
    await call((api) =>
      api.DELETE("/sessions/{session_id}/members/{user_id}", {
        params: { path: { session_id: model.id, user_id: person.id } },
      }),
    );
    showToast(`${person.name || person.email} is out.`);
    onRemoved();
  };
  return (
    <FormDialog
      title={`Remove ${person.name || person.email}?`}
      submit="Remove"
      onClose={onClose}
      onSubmit={remove}
    >
      <p>They stop reading along within seconds. What they claimed stays.</p>
      {isGuest && isOpen && (
        <p class="notice" data-tone="warn">
          While whoever has the link may come in, they can come back. Let guests in by a code only
          to keep them out.
        </p>
      )}
    </FormDialog>
  );
}

function SessionInvited({ model }: { model: SharedSession }): VNode {
  const path = { session_id: model.id };
  return (
    <Invited
      load={(cursor) =>
        call((api) =>
          api.GET("/sessions/{session_id}/invitations", {
            params: { path, query: { limit: PAGE, cursor } },
          }),
        )
      }
      withdraw={(id) =>
        call((api) =>
          api.DELETE("/sessions/{session_id}/invitations/{invitation_id}", {
            params: { path: { ...path, invitation_id: id } },
          }),
        )
      }
    />
  );
}

interface InviteProps {
  model: SharedSession;
  onInvited: () => void;
}

function Invite({ model, onInvited }: InviteProps): VNode {
  return (
    <InviteForm
      roles={[
        { value: "shared", label: "reads along" },
        { value: "participant", label: "took part" },
      ]}
      invite={async (email, role) => {
        const invited = await call((api) =>
          api.POST("/sessions/{session_id}/members", {
            params: { path: { session_id: model.id } },
            body: { email, relation: role },
          }),
        );
        onInvited();
        return invited;
      }}
    />
  );
}
