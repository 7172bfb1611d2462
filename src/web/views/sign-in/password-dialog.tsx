import type { VNode } from "preact";
import { account } from "../../api/account.ts";
import { callOnce } from "../../api/client.ts";
import { signInWithPassword } from "../../api/sign-in.ts";
import { TextField } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { showToast } from "../../parts/toasts.tsx";

const LEAST_LENGTH = 8;

/** Changes the password of whoever is signed in, who stays so here and nowhere else. */
export function PasswordDialog({ onClose }: { onClose: () => void }): VNode | null {
  const who = account.value;
  if (who?.kind !== "user") return null;
  const { email, isRemembered } = who;
  const change = async (fields: FormData) => {
    const [current, fresh, again] = ["current", "new", "again"].map((name) =>
      String(fields.get(name)),
    );
    if (fresh !== again) throw new Error("The new password was not written the same twice.");
    const body = { current_password: current ?? "", new_password: fresh ?? "" };
    await callOnce((api) => api.POST("/auth/password", { body }));
    showToast("Your password is changed. Wherever else you were signed in, you are asked for it.");
    // This login would end with its hour: the new password begins another.
    await signInWithPassword(email, fresh ?? "", isRemembered).catch(() => undefined);
  };
  return (
    <FormDialog title="Change your password" submit="Change it" onSubmit={change} onClose={onClose}>
      <input type="text" name="email" autocomplete="username" value={email} readOnly hidden />
      <TextField
        label="Current password"
        type="password"
        name="current"
        autocomplete="current-password"
        required
      />
      <TextField
        label={`New password, at least ${LEAST_LENGTH} characters`}
        type="password"
        name="new"
        autocomplete="new-password"
        minLength={LEAST_LENGTH}
        required
      />
      <TextField
        label="The new password once more"
        type="password"
        name="again"
        autocomplete="new-password"
        required
      />
    </FormDialog>
  );
}
