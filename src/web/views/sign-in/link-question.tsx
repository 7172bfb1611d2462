import type { VNode } from "preact";
import { account } from "../../api/account.ts";
import { Dialog } from "../../parts/dialog.tsx";

interface LinkQuestionProps {
  email: string;
  onAccept: () => Promise<void>;
  onDecline: () => void;
}

/** Before a mailed link signs in: whose it is, and who is signed in now. */
export function LinkQuestion({ email, onAccept, onDecline }: LinkQuestionProps): VNode {
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
