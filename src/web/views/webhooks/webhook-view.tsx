import { ArrowLeft } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { Webhook } from "../../api/records.ts";
import { useDeed } from "../../parts/deed.ts";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { attempt, showToast } from "../../parts/toasts.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { DeliveryLog } from "./delivery-log.tsx";
import { WebhookActions } from "./webhook-actions.tsx";
import { eventsOf, statusOf } from "./webhook-facts.ts";
import "./webhooks.css";

interface Params {
  workspace?: string;
  id?: string;
}

/** One webhook: what it is told of, and what became of its messages. */
export function View({ params }: { params: Params }): VNode {
  const path = { id: params.workspace ?? "", webhook_id: params.id ?? "" };
  const { state, reload, set } = useResource(
    () => call((api) => api.GET("/workspaces/{id}/webhooks/{webhook_id}", { params: { path } })),
    [path.id, path.webhook_id],
  );
  const [, navigate] = useLocation();
  const [sent, setSent] = useState(0);
  const all = `/webhooks/${path.id}`;
  const webhook = state.kind === "ready" ? state.value : undefined;
  const head = webhook && (
    <WebhookActions
      webhook={webhook}
      onChanged={set}
      onSent={() => setSent(sent + 1)}
      onGone={() => navigate(all)}
    />
  );
  return (
    <>
      <p class="back">
        <Link href={all}>
          <ArrowLeft size={15} aria-hidden="true" /> All webhooks
        </Link>
      </p>
      <ViewFrame title={webhook?.description || "Webhook"} head={head}>
        <Awaited of={{ state, reload }} what="the webhook" />
        {webhook && (
          <div class="stack">
            <Facts webhook={webhook} onChanged={set} />
            <DeliveryLog webhook={webhook} sent={sent} onNews={reload} />
          </div>
        )}
      </ViewFrame>
    </>
  );
}

interface FactsProps {
  webhook: Webhook;
  onChanged: (webhook: Webhook) => void;
}

function Facts({ webhook, onChanged }: FactsProps): VNode {
  const { isBusy, run } = useDeed();
  const { label, tone, why } = statusOf(webhook);
  const until = webhook.previous_secret_expires_at;
  const path = { id: webhook.workspace_id, webhook_id: webhook.id };
  const adopt = () =>
    run(() =>
      attempt(async () => {
        const params = { path };
        onChanged(
          await call((api) => api.POST("/workspaces/{id}/webhooks/{webhook_id}/adopt", { params })),
        );
        showToast("The webhook is yours, and sends again.");
      }),
    );
  return (
    <section class="card stack" aria-label="About it">
      <p class="row">
        <span class="chip" data-tone={tone}>
          {label}
        </span>
        <code>{webhook.url}</code>
      </p>
      {why && <p>{why}</p>}
      {webhook.suspended && (
        <div>
          <button type="button" class="button" aria-disabled={isBusy} onClick={() => void adopt()}>
            Take it over
          </button>
        </div>
      )}
      <p class="small soft">
        {`Told of ${eventsOf(webhook.event_types, 12)}. Made: ${momentOf(webhook.created_at)}.`}
        {until && ` The secret before works until ${momentOf(until)}, too.`}
      </p>
    </section>
  );
}
