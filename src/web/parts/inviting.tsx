import { Copy, Mail } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { SentInvitation } from "../api/records.ts";
import { Alert } from "./alert.tsx";
import { copyText } from "./copying.ts";
import { useDeed } from "./deed.ts";
import { MoreButton } from "./page-list.tsx";
import { usePages } from "./pages.ts";
import { RecordList, RecordRow } from "./record-row.tsx";
import { Failure } from "./states.tsx";
import { momentOf } from "./times.ts";
import { attempt, showToast } from "./toasts.tsx";

interface SentOne {
  /** False where letters do not leave the machine. */
  readonly is_mailed: boolean;
  readonly link: string;
}

interface InviteProps<R extends string> {
  roles: readonly { readonly value: R; readonly label: string }[];
  /** Sends it; whether there is such an address nobody is told. */
  invite: (email: string, role: R) => Promise<SentOne | object>;
}

/** Invites somebody by address, as one of `roles`. */
export function InviteForm<R extends string>({ roles, invite }: InviteProps<R>): VNode {
  const { isBusy, error, run } = useDeed();
  const [unmailed, setUnmailed] = useState<string | undefined>();
  const submit = async (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const role = roles.find(({ value }) => value === fields.get("role")) ?? roles[0];
    if (role === undefined) return;
    const answer = await invite(String(fields.get("email")).trim(), role.value);
    form.reset();
    const isUnmailed = "link" in answer && !answer.is_mailed;
    setUnmailed(isUnmailed ? answer.link : undefined);
    if (!isUnmailed) showToast("The invitation is on its way.");
  };
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        void run(() => submit(form));
      }}
    >
      <label class="field invite-address">
        <span>Invite somebody by address</span>
        <input class="input" type="email" name="email" required autocomplete="off" />
      </label>
      <label class="field">
        <span>As one who</span>
        <select class="input" name="role">
          {roles.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="button invite-send" aria-disabled={isBusy}>
        Invite
      </button>
      {unmailed !== undefined && (
        <div class="notice" role="status">
          <p>
            They are invited, but this service sends no mail: give them this address, where they
            answer once an administrator has made them an account. <code>{unmailed}</code>
          </p>
          <button
            type="button"
            class="button icon"
            aria-label="Copy the address"
            title="Copy the address"
            onClick={() => void copyText(unmailed, "The address is copied.")}
          >
            <Copy size={16} aria-hidden="true" />
          </button>
        </div>
      )}
      <Alert text={error} />
    </form>
  );
}

interface InvitedListProps {
  load: (cursor: string | undefined) => Promise<{
    items: readonly SentInvitation[];
    next_cursor: string | null;
  }>;
  withdraw: (id: string) => Promise<unknown>;
}

/** Those who were asked and have not answered; nothing while there are none. */
export function Invited({ load, withdraw }: InvitedListProps): VNode | null {
  const { state, items, more, drop, reload } = usePages<SentInvitation>(load, []);
  if (state.kind === "failed") return <Failure error={state.error} retry={reload} />;
  if (items.length === 0) return null;
  return (
    <>
      <h3>Invited, without an answer yet</h3>
      <RecordList label="Invited">
        {items.map((each) => (
          <InvitedRow
            key={each.id}
            invitation={each}
            onWithdraw={async () => {
              await withdraw(each.id);
              drop(each.id);
            }}
          />
        ))}
      </RecordList>
      <MoreButton more={more} />
    </>
  );
}

interface RowProps {
  invitation: SentInvitation;
  onWithdraw: () => Promise<void>;
}

function InvitedRow({ invitation, onWithdraw }: RowProps): VNode {
  const { to_email: address = "somebody by their id", expires_at: end, role } = invitation;
  const { isBusy, run } = useDeed();
  const take = () =>
    attempt(async () => {
      await onWithdraw();
      showToast("The invitation is taken back.");
    });
  return (
    <RecordRow
      icon={<Mail size={17} aria-hidden="true" />}
      title={address}
      facts={[`as ${role}`, `until ${momentOf(end)}`]}
      actions={
        <button
          type="button"
          class="button"
          aria-label={`Take back the invitation of ${address}`}
          aria-disabled={isBusy}
          onClick={() => void run(take)}
        >
          Take back
        </button>
      }
    />
  );
}
