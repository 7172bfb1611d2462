import { ChevronRight, Plus, Webhook as WebhookIcon } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { ApiError } from "../../../client/errors.ts";
import { call } from "../../api/client.ts";
import type { Webhook, Workspace } from "../../api/records.ts";
import { Choice } from "../../parts/choice.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordList, RecordRow } from "../../parts/record-row.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { useOwnWorkspaces } from "../../parts/workspaces.tsx";
import { NewWebhookDialog } from "./new-webhook-dialog.tsx";
import { eventsOf, statusOf } from "./webhook-facts.ts";
import "./webhooks.css";

const PAGE = 50;

interface Params {
  workspace?: string;
}

/** Where a workspace's programs are told of what happens in it. */
export function View({ params }: { params: Params }): VNode {
  const { state, reload } = useOwnWorkspaces();
  const workspaces = state.kind === "ready" ? state.value : [];
  // An administrator may come by a link to a workspace of others.
  const id = params.workspace ?? workspaces[0]?.id;
  if (id === undefined || state.kind !== "ready") {
    return (
      <ViewFrame title="Webhooks">
        {state.kind === "loading" && <Loading what="your workspaces" lines={3} />}
        {state.kind === "failed" && <Failure error={state.error} retry={reload} />}
      </ViewFrame>
    );
  }
  return <Chosen key={id} id={id} workspaces={workspaces} />;
}

interface ChosenProps {
  id: string;
  workspaces: readonly Workspace[];
}

function Chosen({ id, workspaces }: ChosenProps): VNode {
  const [, navigate] = useLocation();
  const [isMaking, setMaking] = useState(false);
  const list = usePages(
    (cursor) => {
      const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
      const path = { id };
      return call((api) => api.GET("/workspaces/{id}/webhooks", { params: { path, query } }));
    },
    [id],
  );
  const isReady = list.state.kind === "ready";
  const isAmong = workspaces.some((each) => each.id === id);
  const head = isReady && (
    <div class="push">
      <button type="button" class="button primary" onClick={() => setMaking(true)}>
        <Plus size={17} aria-hidden="true" /> New webhook
      </button>
    </div>
  );
  return (
    <ViewFrame title="Webhooks" head={head}>
      <p class="soft lead">
        Your own programs are told of what happens in a workspace's sessions, within seconds:
        messages with ids and states, never words, signed so that nobody else can send them.
      </p>
      {workspaces.length > 1 && (
        <div class="row list-filters">
          <Choice
            class="input filter"
            aria-label="Workspace"
            value={id}
            of={isAmong ? workspaces : [{ id, name: "Another one" }, ...workspaces]}
            onChoose={(chosen) => navigate(`/webhooks/${chosen}`)}
          />
        </div>
      )}
      {list.state.kind === "loading" && <Loading what="webhooks" lines={3} />}
      {list.state.kind === "failed" && <NotShown error={list.state.error} retry={list.reload} />}
      {isReady && list.items.length === 0 && (
        <Empty
          title="No webhook here yet"
          next={
            <button type="button" class="button" onClick={() => setMaking(true)}>
              Make the first webhook
            </button>
          }
        />
      )}
      {list.items.length > 0 && (
        <div class="stack">
          <RecordList label="Webhooks">
            {list.items.map((webhook) => (
              <WebhookRow key={webhook.id} webhook={webhook} />
            ))}
          </RecordList>
          <MoreButton more={list.more} />
        </div>
      )}
      {isMaking && (
        <NewWebhookDialog workspaceId={id} onMade={list.reload} onClose={() => setMaking(false)} />
      )}
    </ViewFrame>
  );
}

/** That one is no owner is nothing to try again. */
function NotShown({ error, retry }: { error: unknown; retry: () => void }): VNode {
  const isRefused = error instanceof ApiError && (error.status === 403 || error.status === 404);
  if (!isRefused) return <Failure error={error} retry={retry} />;
  return (
    <Empty
      title="Not yours to see"
      next={
        <Link class="button" href="/workspaces">
          To your workspaces
        </Link>
      }
    >
      <p>Only an owner of the workspace sees and makes its webhooks.</p>
    </Empty>
  );
}

function WebhookRow({ webhook }: { webhook: Webhook }): VNode {
  const { id, workspace_id: workspaceId, url, description } = webhook;
  const { label, tone, why } = statusOf(webhook);
  return (
    <RecordRow
      icon={<WebhookIcon size={20} aria-hidden="true" />}
      title={<Link href={`/webhooks/${workspaceId}/${id}`}>{description || url}</Link>}
      chips={
        <span class="chip" data-tone={tone}>
          {label}
        </span>
      }
      facts={[description === "" ? "" : url, `told of ${eventsOf(webhook.event_types)}`]}
      actions={<ChevronRight size={18} aria-hidden="true" class="soft" />}
    >
      {why && <p class="small">{why}</p>}
    </RecordRow>
  );
}
