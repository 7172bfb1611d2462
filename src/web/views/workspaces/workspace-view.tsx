import { Lock, Waypoints } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import { elevations, isElevated } from "../../api/elevation.ts";
import { ElevationDialog } from "../../parts/elevation-form.tsx";
import { Invited, InviteForm } from "../../parts/inviting.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import type { Member } from "./member.ts";
import { MemberRow } from "./member-row.tsx";
import { NoteTemplates } from "./note-templates.tsx";
import { RemoveMember } from "./remove-member.tsx";
import "./workspaces.css";

const PAGE = 100;

/** A workspace: who its people are, who manages it, who is invited; and how its notes are arranged. */
export function View({ params }: { params: { id?: string } }): VNode {
  const { id = "" } = params;
  const { state, reload, set } = useResource(
    () => call((api) => api.GET("/workspaces/{id}", { params: { path: { id } } })),
    [id],
  );
  const title = state.kind === "ready" ? state.value.name : "Workspace";
  return (
    <ViewFrame
      title={title}
      head={
        <Link class="button push" href={`/workspaces/${id}/graph`}>
          <Waypoints size={16} aria-hidden="true" /> Graph
        </Link>
      }
    >
      <Awaited of={{ state, reload }} what="the workspace" />
      {state.kind === "ready" && (
        <div class="workspace-parts">
          <People key={id} id={id} name={title} />
          <NoteTemplates
            workspace={state.value}
            // What there is of it is told to whoever may change it.
            mayChange={state.value.usage !== undefined}
            onChanged={set}
          />
        </div>
      )}
    </ViewFrame>
  );
}

async function page(id: string, cursor: string | undefined) {
  const query = { limit: PAGE, cursor };
  const params = { path: { id }, query };
  const answer = await call((api) => api.GET("/workspaces/{id}/members", { params }));
  return { ...answer, items: answer.items.map((each) => ({ ...each, id: each.user_id })) };
}

function People({ id, name }: { id: string; name: string }): VNode {
  const [, navigate] = useLocation();
  const who = account.value;
  const [removing, setRemoving] = useState<Member | undefined>();
  const [invited, setInvited] = useState(0);
  const list = usePages<Member>((cursor) => page(id, cursor), [id]);
  const isAdmin = who?.kind === "user" && who.role === "admin";
  const isOwner = list.items.some((each) => each.id === who?.id && each.role === "owner");
  // Drawn anew when an elevation begins or ends.
  const mayGive = isOwner || (isAdmin && elevations.value && isElevated({ workspace_id: id }));
  return (
    <section class="stack" aria-labelledby="people">
      <h2 id="people">People</h2>
      <PageList list={list} what="people" label="People of this workspace">
        {(each) => (
          <MemberRow
            workspaceId={id}
            member={each}
            mayChange={mayGive}
            mayRemove={isOwner || isAdmin || each.id === who?.id}
            onChanged={list.reload}
            onRemove={() => setRemoving(each)}
          />
        )}
      </PageList>
      {(isOwner || isAdmin) && <WorkspaceInvited key={invited} id={id} />}
      {mayGive && <Invite id={id} onInvited={() => setInvited(invited + 1)} />}
      {isAdmin && !mayGive && list.state.kind === "ready" && <AskToGive id={id} name={name} />}
      {removing && (
        <RemoveMember
          workspaceId={id}
          member={removing}
          onClose={() => setRemoving(undefined)}
          onRemoved={() => {
            if (removing.id === who?.id) navigate("/workspaces");
            else list.reload();
          }}
        />
      )}
    </section>
  );
}

function WorkspaceInvited({ id }: { id: string }): VNode {
  return (
    <Invited
      load={(cursor) =>
        call((api) =>
          api.GET("/workspaces/{id}/invitations", {
            params: { path: { id }, query: { limit: PAGE, cursor } },
          }),
        )
      }
      withdraw={(invitation) =>
        call((api) =>
          api.DELETE("/workspaces/{id}/invitations/{invitation_id}", {
            params: { path: { id, invitation_id: invitation } },
          }),
        )
      }
    />
  );
}

function Invite({ id, onInvited }: { id: string; onInvited: () => void }): VNode {
  return (
    <InviteForm
      roles={[
        { value: "member", label: "belongs to it" },
        { value: "owner", label: "manages it" },
      ]}
      invite={async (email, role) => {
        const invited = await call((api) =>
          api.POST("/workspaces/{id}/members", {
            params: { path: { id } },
            body: { email, role },
          }),
        );
        onInvited();
        return invited;
      }}
    />
  );
}

/** Membership that an administrator gives needs a reason, too. */
function AskToGive({ id, name }: { id: string; name: string }): VNode {
  const [isAsking, setAsking] = useState(false);
  return (
    <p class="row soft">
      <Lock size={16} aria-hidden="true" />
      <span>You do not manage this workspace. To let somebody in, give a reason.</span>
      <button type="button" class="button" onClick={() => setAsking(true)}>
        Give a reason
      </button>
      {isAsking && (
        <ElevationDialog
          place={{ workspace_id: id }}
          what={`“${name}”`}
          onClose={() => setAsking(false)}
          onOpen={() => {
            setAsking(false);
            showToast("Now you can invite.");
          }}
        />
      )}
    </p>
  );
}
