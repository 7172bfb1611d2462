import type { VNode } from "preact";
import { ShownOnce } from "../../parts/shown-once.tsx";

/** The secret of a webhook, with what it is good for. */
export function WebhookSecret({ secret }: { secret: string }): VNode {
  return (
    <div class="stack">
      <ShownOnce label="Signing secret" value={secret} />
      <p class="small soft">
        Your program checks with it that a message is from here: the headers <code>webhook-id</code>
        , <code>webhook-timestamp</code> and <code>webhook-signature</code> follow Standard
        Webhooks, for which there are libraries in most languages.
      </p>
    </div>
  );
}
