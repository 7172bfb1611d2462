import { RotateCw } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { Delivery, Webhook } from "../../api/records.ts";
import { useDeed } from "../../parts/deed.ts";
import { Choice } from "../../parts/fields.tsx";
import { MoreButton } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { useRefreshing } from "../../parts/refreshing.ts";
import { Awaited, Empty, NothingFits } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { deliveryStatusOf, outcomeOf } from "./webhook-facts.ts";

const PAGE = 25;
const SOON_MS = 2_000;
const LATER_MS = 15_000;

type Status = Delivery["status"];

interface LogProps {
  webhook: Webhook;
  /** Rises when a message was sent from here. */
  sent: number;
  /** Called when something arrived or failed, which changes the webhook, too. */
  onNews: () => void;
}

/** What became of a webhook's messages, the newest first. */
export function DeliveryLog({ webhook, sent, onNews }: LogProps): VNode {
  const [status, setStatus] = useState<"" | Status>("");
  const list = usePages((cursor) => page(webhook, status, cursor), [webhook.id, status]);
  const { items, reload } = list;
  const isWaiting = items.some(({ status: each }) => each === "pending");
  useRefreshing(reload, items.length > PAGE ? undefined : isWaiting ? SOON_MS : LATER_MS);
  useEffect(() => {
    if (sent > 0) reload();
  }, [sent]);
  useEffect(() => {
    if (!isWaiting && items.length > 0) onNews();
  }, [isWaiting]);
  return (
    <section class="stack" aria-labelledby="deliveries">
      <div class="row">
        <h2 id="deliveries">Messages of the last 30 days</h2>
        <Choice
          class="input filter push"
          aria-label="Messages that"
          value={status}
          of={STATUSES}
          onChoose={setStatus}
        />
      </div>
      <Awaited of={list} what="messages" lines={3} />
      {list.state.kind === "ready" && items.length === 0 && (
        <NoMessages isNarrowed={status !== ""} onAll={() => setStatus("")} />
      )}
      {items.length > 0 && (
        <ul class="deliveries" aria-label="Messages">
          {items.map((delivery) => (
            <DeliveryRow
              key={delivery.id}
              webhook={webhook}
              delivery={delivery}
              onChanged={list.put}
            />
          ))}
        </ul>
      )}
      <MoreButton more={list.more} label="Show older ones" />
    </section>
  );
}

function page({ id, workspace_id: workspaceId }: Webhook, status: "" | Status, cursor?: string) {
  const query = { limit: PAGE, status: status || undefined, cursor };
  const params = { path: { id: workspaceId, webhook_id: id }, query };
  return call((api) => api.GET("/workspaces/{id}/webhooks/{webhook_id}/deliveries", { params }));
}

const STATUSES: readonly { id: "" | Status; name: string }[] = [
  { id: "", name: "All" },
  { id: "failed", name: "Failed" },
  { id: "pending", name: "Under way" },
  { id: "succeeded", name: "Arrived" },
];

interface DeliveryRowProps {
  webhook: Webhook;
  delivery: Delivery;
  onChanged: (delivery: Delivery) => void;
}

function DeliveryRow({ webhook, delivery, onChanged }: DeliveryRowProps): VNode {
  const { label, tone } = deliveryStatusOf(delivery);
  const last = delivery.attempts.at(-1);
  return (
    <li>
      <details>
        <summary>
          <span class="chip" data-tone={tone}>
            {label}
          </span>
          <code>{delivery.event_type}</code>
          <span class="soft small">{momentOf(delivery.created_at)}</span>
          {last && <span class="soft small push">{outcomeOf(last)}</span>}
        </summary>
        <div class="stack delivery">
          <Attempts delivery={delivery} />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
          <pre tabIndex={0}>{JSON.stringify(delivery.payload, undefined, 2)}</pre>
          {webhook.enabled && !webhook.suspended && (
            <Again webhook={webhook} delivery={delivery} onChanged={onChanged} />
          )}
        </div>
      </details>
    </li>
  );
}

function Attempts({ delivery }: { delivery: Delivery }): VNode {
  const { attempts, attempt_count: count, next_attempt_at: next } = delivery;
  const left = count - attempts.length;
  return (
    <div>
      <ol class="attempts">
        {left > 0 && <li class="soft">{`${left} earlier ones`}</li>}
        {attempts.map((attempt) => (
          <li key={attempt.at}>{`${momentOf(attempt.at)}: ${outcomeOf(attempt)}`}</li>
        ))}
      </ol>
      {count === 0 && <p class="soft">It was not sent yet.</p>}
      {next && count > 0 && <p class="small soft">{`Next try: ${momentOf(next)}`}</p>}
    </div>
  );
}

function Again({ webhook, delivery, onChanged }: DeliveryRowProps): VNode {
  const { isBusy, error, run } = useDeed();
  const params = {
    path: { id: webhook.workspace_id, webhook_id: webhook.id, delivery_id: delivery.id },
  };
  const again = async () => {
    onChanged(
      await call((api) =>
        api.POST("/workspaces/{id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry", {
          params,
        }),
      ),
    );
  };
  return (
    <div class="row">
      <button type="button" class="button" aria-disabled={isBusy} onClick={() => void run(again)}>
        <RotateCw size={16} aria-hidden="true" /> Send it again
      </button>
      <code class="small soft">{delivery.id}</code>
      {error !== "" && <span role="alert">{error}</span>}
    </div>
  );
}

function NoMessages({ isNarrowed, onAll }: { isNarrowed: boolean; onAll: () => void }): VNode {
  if (isNarrowed) return <NothingFits title="No message fits" onAll={onAll} />;
  const record = (
    <Link class="button" href="/record">
      Record something
    </Link>
  );
  return (
    <Empty title="Nothing was sent yet" next={record}>
      <p>Send a test, or record something in the workspace.</p>
    </Empty>
  );
}
