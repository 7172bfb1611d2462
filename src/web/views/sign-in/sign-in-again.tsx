import type { VNode } from "preact";
import { forgetAccount, lastAccount } from "../../api/account.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** Over the open view, when the hour of a token is over: the view goes on afterwards. */
export function SignInAgain(): VNode {
  const who = lastAccount.value;
  return (
    <Dialog title={who?.kind === "guest" ? "Your visit is over" : "Please sign in again"}>
      {who?.kind === "user" ? (
        <>
          <p class="soft">
            Your sign-in has ended. What is open here stays as it is and goes on once you are back.
          </p>
          <SignInForm email={who.email} />
        </>
      ) : (
        <p class="soft">
          Guests are let in for a while, and as long as the conversation is open to guests. You can
          join again with the link that you were given.
        </p>
      )}
      <div>
        <button type="button" class="button quiet" onClick={forgetAccount}>
          Leave
        </button>
      </div>
    </Dialog>
  );
}
