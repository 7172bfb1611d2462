import { Pencil, Power, RefreshCw, Send, Trash2 } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Webhook } from "../../api/records.ts";
import { ActionMenu } from "../../parts/action-menu.tsx";
import { useDeed } from "../../parts/deed.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { attempt, showToast } from "../../parts/toasts.tsx";
import { WebhookFields, webhookOf } from "./webhook-fields.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";

interface ActionsProps {
  webhook: Webhook;
  onChanged: (webhook: Webhook) => void;
  /** Called when a test message is on its way. */
  onSent: () => void;
  onGone: () => void;
}

type Opened = "edit" | "rotate" | "delete" | undefined;

/** What an owner can do with a webhook. */
export function WebhookActions({ webhook, onChanged, onSent, onGone }: ActionsProps): VNode {
  const [opened, open] = useState<Opened>();
  const { isBusy, run } = useDeed();
  const path = { id: webhook.workspace_id, webhook_id: webhook.id };
  const close = () => open(undefined);
  const start = (work: () => Promise<void>) => void run(() => attempt(work));
  const test = async () => {
    await call((api) =>
      api.POST("/workspaces/{id}/webhooks/{webhook_id}/test", { params: { path } }),
    );
    onSent();
  };
  const turn = async () => {
    const enabled = !webhook.enabled;
    onChanged(await change(webhook, { enabled }));
    showToast(enabled ? "It is switched on." : "It is switched off; nothing is sent.");
  };
  return (
    <div class="row push">
      {webhook.enabled && !webhook.suspended && (
        <button type="button" class="button" aria-disabled={isBusy} onClick={() => start(test)}>
          <Send size={16} aria-hidden="true" /> Send a test
        </button>
      )}
      <button type="button" class="button" aria-disabled={isBusy} onClick={() => start(turn)}>
        <Power size={16} aria-hidden="true" /> {webhook.enabled ? "Switch off" : "Switch on"}
      </button>
      <MoreMenu onOpen={open} />
      {opened === "edit" && (
        <FormDialog
          title="Change the webhook"
          submit="Save"
          onSubmit={async (fields) => onChanged(await change(webhook, webhookOf(fields)))}
          onClose={close}
        >
          <WebhookFields webhook={webhook} />
        </FormDialog>
      )}
      {opened === "rotate" && (
        <RotateDialog webhook={webhook} onChanged={onChanged} onClose={close} />
      )}
      {opened === "delete" && <DeleteDialog webhook={webhook} onGone={onGone} onClose={close} />}
    </div>
  );
}

interface Change {
  readonly url?: string;
  readonly description?: string;
  readonly event_types?: Webhook["event_types"];
  readonly enabled?: boolean;
}

function change({ id, workspace_id: workspaceId }: Webhook, body: Change): Promise<Webhook> {
  const params = { path: { id: workspaceId, webhook_id: id } };
  return call((api) => api.PATCH("/workspaces/{id}/webhooks/{webhook_id}", { params, body }));
}

function MoreMenu({ onOpen }: { onOpen: (what: Opened) => void }): VNode {
  const choices = [
    { what: "edit", label: "Change", Icon: Pencil },
    { what: "rotate", label: "New secret", Icon: RefreshCw },
    { what: "delete", label: "Delete", Icon: Trash2 },
  ] as const;
  return <ActionMenu label="More" class="button icon" choices={choices} onChoose={onOpen} />;
}

interface DialogProps {
  webhook: Webhook;
  onClose: () => void;
}

function RotateDialog({
  webhook,
  onChanged,
  onClose,
}: DialogProps & { onChanged: (webhook: Webhook) => void }): VNode {
  const make = async () => {
    const params = { path: { id: webhook.workspace_id, webhook_id: webhook.id } };
    const made = await call((api) =>
      api.POST("/workspaces/{id}/webhooks/{webhook_id}/rotate-secret", { params }),
    );
    const { secret, ...rest } = made;
    onChanged(rest);
    return secret;
  };
  return (
    <SecretDialog
      title="A new secret?"
      submit="Make a new secret"
      made="The new secret"
      make={make}
      show={(secret) => <WebhookSecret secret={secret} />}
      onClose={onClose}
    >
      <p>
        For 24 hours messages are signed with both, the new one and the one before: time to change
        it where they are received.
      </p>
    </SecretDialog>
  );
}

function DeleteDialog({ webhook, onGone, onClose }: DialogProps & { onGone: () => void }): VNode {
  const remove = async () => {
    const params = { path: { id: webhook.workspace_id, webhook_id: webhook.id } };
    const { message } = await call((api) =>
      api.DELETE("/workspaces/{id}/webhooks/{webhook_id}", { params }),
    );
    showToast(message);
    onGone();
  };
  return (
    <FormDialog
      title="Delete the webhook?"
      submit="Delete it"
      cancel="Keep it"
      isEnd
      onSubmit={remove}
      onClose={onClose}
    >
      <p>Nothing is sent to it any more, and its log of messages goes with it.</p>
    </FormDialog>
  );
}
