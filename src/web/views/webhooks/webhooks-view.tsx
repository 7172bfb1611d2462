import { ChevronRight, Plus, Webhook as WebhookIcon } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { ApiError } from "../../../client/errors.ts";
import { call } from "../../api/client.ts";
import type { Webhook, Workspace } from "../../api/records.ts";
import { Choice } from "../../parts/fields.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordRow } from "../../parts/record-row.tsx";
import type { Loaded } from "../../parts/resource.ts";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { Awaited, Empty } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { useOwnWorkspaces } from "../../parts/workspaces.tsx";
import { eventsOf, statusOf } from "./webhook-facts.ts";
import { WebhookFields, webhookOf } from "./webhook-fields.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";
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
        <Awaited of={{ state, reload }} what="your workspaces" lines={3} />
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
      const query = { limit: PAGE, cursor };
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
  const makeFirst = (
    <button type="button" class="button" onClick={() => setMaking(true)}>
      Make the first webhook
    </button>
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
      {isRefused(list.state) ? (
        <NotShown />
      ) : (
        <PageList
          list={list}
          what="webhooks"
          lines={3}
          label="Webhooks"
          empty={<Empty title="No webhook here yet" next={makeFirst} />}
        >
          {(webhook) => <WebhookRow webhook={webhook} />}
        </PageList>
      )}
      {isMaking && (
        <NewWebhookDialog workspaceId={id} onMade={list.reload} onClose={() => setMaking(false)} />
      )}
    </ViewFrame>
  );
}

/** That one is no owner is nothing to try again. */
function isRefused(state: Loaded<unknown>["state"]): boolean {
  if (state.kind !== "failed" || !(state.error instanceof ApiError)) return false;
  return state.error.status === 403 || state.error.status === 404;
}

function NotShown(): VNode {
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

interface NewWebhookProps {
  workspaceId: string;
  onMade: () => void;
  onClose: () => void;
}

/** Makes a webhook, and shows its secret. */
function NewWebhookDialog({ workspaceId, onMade, onClose }: NewWebhookProps): VNode {
  const make = async (fields: FormData) => {
    const body = webhookOf(fields);
    const params = { path: { id: workspaceId } };
    const made = await call((api) => api.POST("/workspaces/{id}/webhooks", { params, body }));
    onMade();
    return made;
  };
  return (
    <SecretDialog
      title="New webhook"
      submit="Make the webhook"
      made="Your new webhook"
      make={make}
      show={({ secret }) => <WebhookSecret secret={secret} />}
      next={({ id }) => (
        <Link class="button" href={`/webhooks/${workspaceId}/${id}`}>
          Open it, and send a test
        </Link>
      )}
      onClose={onClose}
    >
      <WebhookFields />
    </SecretDialog>
  );
}
