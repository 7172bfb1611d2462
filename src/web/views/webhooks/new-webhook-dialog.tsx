import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { WebhookFields, webhookOf } from "./webhook-fields.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";

interface NewWebhookProps {
  workspaceId: string;
  onMade: () => void;
  onClose: () => void;
}

/** Makes a webhook, and shows its secret. */
export function NewWebhookDialog({ workspaceId, onMade, onClose }: NewWebhookProps): VNode {
  const [made, setMade] = useState<{ id: string; secret: string } | undefined>();
  const make = async (fields: FormData) => {
    const body = webhookOf(fields);
    const params = { path: { id: workspaceId } };
    setMade(await call((api) => api.POST("/workspaces/{id}/webhooks", { params, body })));
    onMade();
  };
  if (made === undefined) {
    return (
      <FormDialog
        title="New webhook"
        submit="Make the webhook"
        stays
        onSubmit={make}
        onClose={onClose}
      >
        <WebhookFields />
      </FormDialog>
    );
  }
  return (
    <Dialog title="Your new webhook">
      <WebhookSecret secret={made.secret} />
      <div class="row">
        <Link class="button" href={`/webhooks/${workspaceId}/${made.id}`}>
          Open it, and send a test
        </Link>
        <button type="button" class="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
