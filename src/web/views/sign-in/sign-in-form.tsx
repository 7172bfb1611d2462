import { LogIn, Mail } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { callNameless, messageOf } from "../../api/client.ts";
import { requestLink, signInWithPassword } from "../../api/sign-in.ts";
import { TextField } from "../../parts/fields.tsx";
import { useResource } from "../../parts/resource.ts";

interface Notice {
  readonly text: string;
  readonly isError: boolean;
}

interface SignInProps {
  /** Whom alone it is for; "" for anybody. */
  email?: string;
  /** True where something else is what most come for. */
  isAside?: boolean;
}

/** E-mail and password, or a link by mail. */
export function SignInForm({ email = "", isAside = false }: SignInProps): VNode {
  const [notice, setNotice] = useState<Notice | undefined>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const fields = new FormData(event.currentTarget);
    const address = String(fields.get("email"));
    const wantsLink = event.submitter?.getAttribute("value") === "link";
    const password = String(fields.get("password"));
    if (!wantsLink && password === "") {
      setNotice({ text: "Type your password, or have a link sent.", isError: true });
      return;
    }
    setBusy(true);
    setNotice(undefined);
    try {
      if (wantsLink) setNotice({ text: await requestLink(address), isError: false });
      else await signInWithPassword(address, password, fields.get("remember") !== null);
    } catch (error) {
      setNotice({ text: messageOf(error), isError: true });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        required
        defaultValue={email}
        readOnly={email !== ""}
      />
      <TextField label="Password" name="password" type="password" autoComplete="current-password" />
      <label class="check small">
        <input type="checkbox" name="remember" defaultChecked /> Stay signed in for 12 hours
      </label>
      {notice && (
        <p
          class="notice"
          data-tone={notice.isError ? "danger" : undefined}
          role={notice.isError ? "alert" : "status"}
        >
          {notice.text}
        </p>
      )}
      <div class="row">
        <button type="submit" class={isAside ? "button" : "button primary"} disabled={isBusy}>
          <LogIn size={17} aria-hidden="true" /> Sign in
        </button>
        <button type="submit" class="button" name="way" value="link" disabled={isBusy}>
          <Mail size={17} aria-hidden="true" /> Send me a sign-in link
        </button>
      </div>
    </form>
  );
}

interface ProvidersProps {
  /** Where a provider sends this tab back. */
  back: () => string;
  onLeave: () => void;
}

/** One button for each identity provider that is configured. */
export function Providers({ back, onLeave }: ProvidersProps): VNode | null {
  const { state } = useResource(() => callNameless((api) => api.GET("/auth/oauth/providers")), []);
  if (state.kind !== "ready" || state.value.items.length === 0) return null;
  return (
    <div class="row">
      {state.value.items.map(({ id, name, authorize_url: address }) => (
        <a
          key={id}
          class="button"
          href={`${address}?redirect=${encodeURIComponent(back())}`}
          onClick={onLeave}
        >
          Sign in with {name}
        </a>
      ))}
    </div>
  );
}
