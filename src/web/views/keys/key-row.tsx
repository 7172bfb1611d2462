import { KeyRound, RefreshCw, Trash2, UserCheck } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import type { ServiceKey } from "../../api/records.ts";
import { ActionMenu } from "../../parts/action-menu.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { RecordRow } from "../../parts/record-row.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { agoOf, momentOf } from "../../parts/times.ts";
import { showToast } from "../../parts/toasts.tsx";
import { statusOf } from "./key-facts.ts";

interface KeyRowProps {
  serviceKey: ServiceKey;
  workspace: string | undefined;
  onChanged: (key: ServiceKey) => void;
  /** Called when the list is no longer what the service has. */
  onStale: () => void;
  onGone: () => void;
}

type Opened = "rotate" | "adopt" | "revoke" | undefined;

/** A key in the list. */
export function KeyRow({ serviceKey, workspace, ...on }: KeyRowProps): VNode {
  const [opened, open] = useState<Opened>();
  const { name, prefix, status, scopes, expires_at: end, last_used_at: used } = serviceKey;
  const { label, tone } = statusOf(serviceKey);
  const close = () => open(undefined);
  const isAlive = status === "active" || status === "suspended";
  const who = account.value;
  const isMine = who?.kind === "user" && serviceKey.created_by === who.id;
  return (
    <RecordRow
      icon={<KeyRound size={20} aria-hidden="true" />}
      title={name}
      chips={
        <span class="chip" data-tone={tone}>
          {label}
        </span>
      }
      facts={[
        <code key="prefix">{prefix}…</code>,
        workspace,
        used === undefined ? "never used" : `used ${agoOf(used)}`,
        isAlive && `until ${momentOf(end)}`,
        isMine && "made by you",
      ].filter(Boolean)}
      actions={<Actions serviceKey={serviceKey} onOpen={open} />}
    >
      <ul class="row scopes" aria-label="Rights">
        {scopes.map((scope) => (
          <li key={scope} class="chip">
            {scope}
          </li>
        ))}
      </ul>
      {status === "suspended" && (
        <p class="small">
          Whoever made it has lost the right to, so it opens nothing. Take it over, and it works
          again at once, with the same secret.
        </p>
      )}
      {opened === "rotate" && (
        <RotateDialog serviceKey={serviceKey} onMade={on.onStale} onClose={close} />
      )}
      {opened === "adopt" && (
        <AdoptDialog serviceKey={serviceKey} onChanged={on.onChanged} onClose={close} />
      )}
      {opened === "revoke" && (
        <RevokeDialog serviceKey={serviceKey} onGone={on.onGone} onClose={close} />
      )}
    </RecordRow>
  );
}

interface ActionsProps {
  serviceKey: ServiceKey;
  onOpen: (what: Opened) => void;
}

function Actions({ serviceKey: { name, status }, onOpen }: ActionsProps): VNode {
  const choices = [
    { what: "adopt", label: "Take over", Icon: UserCheck, isShown: status === "suspended" },
    { what: "rotate", label: "New secret", Icon: RefreshCw, isShown: status === "active" },
    { what: "revoke", label: "Revoke", Icon: Trash2 },
  ] as const;
  return <ActionMenu label={`What to do with ${name}`} choices={choices} onChoose={onOpen} />;
}

interface DialogProps {
  serviceKey: ServiceKey;
  onClose: () => void;
}

function RotateDialog({
  serviceKey: { id, name },
  onMade,
  onClose,
}: DialogProps & { onMade: () => void }): VNode {
  const make = async () => {
    const params = { path: { id } };
    const made = await call((api) => api.POST("/api-keys/{id}/rotate", { params, body: {} }));
    onMade();
    return made.key;
  };
  return (
    <SecretDialog
      title="A new secret?"
      submit="Make a new secret"
      made="The new secret"
      make={make}
      show={(secret) => <ShownOnce label={`New secret of “${name}”`} value={secret} />}
      onClose={onClose}
    >
      <p>
        The one that “{name}” has now works for 24 h more at most: time to change it where it is
        used.
      </p>
    </SecretDialog>
  );
}

function AdoptDialog({
  serviceKey: { id, name },
  onChanged,
  onClose,
}: DialogProps & { onChanged: (key: ServiceKey) => void }): VNode {
  const adopt = async () => {
    const params = { path: { id } };
    onChanged(await call((api) => api.POST("/api-keys/{id}/adopt", { params })));
    showToast("The key is yours, and works again.");
  };
  return (
    <FormDialog title="Take the key over?" submit="Take over" onSubmit={adopt} onClose={onClose}>
      <p>
        “{name}” works by your right from then on, with the same secret. Whoever has seen the secret
        knows it still: make a new one afterwards if that matters.
      </p>
    </FormDialog>
  );
}

function RevokeDialog({
  serviceKey: { id, name },
  onGone,
  onClose,
}: DialogProps & { onGone: () => void }): VNode {
  const revoke = async () => {
    const params = { path: { id } };
    const { message } = await call((api) => api.DELETE("/api-keys/{id}", { params }));
    showToast(message);
    onGone();
  };
  return (
    <FormDialog
      title="Revoke the key?"
      submit={`Revoke “${name}”`}
      cancel="Keep it"
      isEnd
      onSubmit={revoke}
      onClose={onClose}
    >
      <p>Whatever uses it is refused within 5 seconds, for good.</p>
    </FormDialog>
  );
}
