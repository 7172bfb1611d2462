import type { VNode } from "preact";
import { account } from "../../api/account.ts";
import { Dialog } from "../../parts/dialog.tsx";

interface LinkQuestionProps {
  kind: "sign-in" | "invitation";
  email: string;
  onAccept: () => Promise<void>;
  onDecline: () => void;
}

/** Before a mailed link signs in: whose it is, and who is signed in now. */
export function LinkQuestion({ kind, email, onAccept, onDecline }: LinkQuestionProps): VNode {
  if (kind === "invitation") {
    return <InvitationQuestion email={email} onAccept={onAccept} onDecline={onDecline} />;
  }
  const who = account.value;
  const now = who?.kind === "user" ? who.email : who?.name;
  return (
    <Dialog title="Sign in with this link?" onClose={onDecline}>
      <p>
        It is a sign-in link of <strong>{email}</strong>. Whatever you record or add afterwards
        belongs to that account.
      </p>
      {now !== undefined && now !== email && (
        <p class="notice" data-tone="warn">
          You are signed in as <strong>{now}</strong> now, and will not be any more.
        </p>
      )}
      <div class="row">
        <button type="button" class="button primary" onClick={() => void onAccept()}>
          Sign in as {email}
        </button>
        <button type="button" class="button" onClick={onDecline}>
          Do not sign in
        </button>
      </div>
    </Dialog>
  );
}

type InvitationProps = Omit<LinkQuestionProps, "kind">;

/** Before a mailed invitation is opened, which may make an account. */
function InvitationQuestion({ email, onAccept, onDecline }: InvitationProps): VNode {
  return (
    <Dialog title="Open the invitation?" onClose={onDecline}>
      <p>
        It is for <strong>{email}</strong>. If there is no account with this address yet, one is
        made where this service allows it.
      </p>
      <div class="row">
        <button type="button" class="button primary" onClick={() => void onAccept()}>
          Go on as {email}
        </button>
        <button type="button" class="button" onClick={onDecline}>
          Not now
        </button>
      </div>
    </Dialog>
  );
}
