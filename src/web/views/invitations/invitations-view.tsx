import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call, messageOf } from "../../api/client.ts";
import type { Invitation } from "../../api/records.ts";
import { openedInvitations } from "../../api/sign-in.ts";
import { useResource } from "../../parts/resource.ts";
import { Awaited, Empty } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { showToast } from "../../parts/toasts.tsx";
import { ViewFrame } from "../../parts/view.tsx";

/** What the person is invited to, each with accept and decline. */
export function View(): VNode {
  const { state, reload } = useResource(
    () => call((api) => api.GET("/invitations", { params: { query: { limit: 100 } } })),
    [openedInvitations.value],
  );
  return (
    <ViewFrame title="Invitations to you">
      <Awaited of={{ state, reload }} what="invitations" lines={3} />
      {state.kind === "ready" && state.value.items.length === 0 && (
        <Empty
          title="No open invitations"
          next={
            <Link class="button" href="/">
              To your sessions
            </Link>
          }
        >
          <p>
            Invitations to workspaces and recorded conversations appear here, once you have opened
            the link in their letter or signed in by a mailed link.
          </p>
        </Empty>
      )}
      {state.kind === "ready" && (
        <ul class="stack">
          {state.value.items.map((each) => (
            <InvitationCard key={each.id} invitation={each} onAnswered={reload} />
          ))}
        </ul>
      )}
    </ViewFrame>
  );
}

interface CardProps {
  invitation: Invitation;
  onAnswered: () => void;
}

function InvitationCard({ invitation, onAnswered }: CardProps): VNode {
  const { id, kind, role, workspace_name: name, invited_by: by, expires_at: end } = invitation;
  const [isBusy, setBusy] = useState(false);
  const answer = async (deed: "accept" | "decline") => {
    setBusy(true);
    try {
      const { message } = await call((api) =>
        api.POST(`/invitations/{id}/${deed}`, { params: { path: { id } } }),
      );
      showToast(message);
    } catch (error) {
      showToast(messageOf(error));
      setBusy(false);
    }
    onAnswered();
  };
  const to = kind === "workspace" ? `the workspace “${name}”` : "a recorded conversation";
  return (
    <li class="card row">
      <p>
        {`${by.name || "Somebody"} invites you to ${to}, as ${role}.`}
        <br />
        <span class="small soft">Until {momentOf(end)}</span>
      </p>
      <div class="row push">
        <button
          type="button"
          class="button primary"
          disabled={isBusy}
          onClick={() => void answer("accept")}
        >
          Accept
        </button>
        <button
          type="button"
          class="button"
          disabled={isBusy}
          onClick={() => void answer("decline")}
        >
          Decline
        </button>
      </div>
    </li>
  );
}
