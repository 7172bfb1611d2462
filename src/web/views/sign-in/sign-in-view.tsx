import { AudioLines } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { messageOf } from "../../api/client.ts";
import { joinAsGuest } from "../../api/sign-in.ts";
import { Alert } from "../../parts/alert.tsx";
import { TextField } from "../../parts/fields.tsx";
import { Loading } from "../../parts/states.tsx";
import { ServiceHealth } from "./service-health.tsx";
import { Providers, SignInForm } from "./sign-in-form.tsx";
import "./sign-in.css";

interface SignInProps {
  /** Told above the form. */
  message: string;
  isArriving: boolean;
  /** Where an identity provider sends this tab back. */
  back: () => string;
  /** Called before the browser goes to an identity provider. */
  onLeave: () => void;
}

/** What somebody sees who is not signed in: the ways in, and how the service does. */
export function SignInView({ message, isArriving, back, onLeave }: SignInProps): VNode {
  const [path] = useLocation();
  const [invited, setInvited] = useState(() => sessionIn(path));
  useEffect(() => setInvited(sessionIn(path)), [path]);
  useEffect(() => {
    document.title = "Sign in · Voice";
  }, []);
  return (
    <div class="sign-in">
      <header>
        <AudioLines size={36} aria-hidden="true" />
        <h1>Voice session service</h1>
        <p class="soft">Conversations as words, live, with who said them.</p>
      </header>
      {message !== "" && (
        <p class="notice" role="status">
          {message}
        </p>
      )}
      {isArriving ? (
        <Loading what="your sign-in" lines={3} />
      ) : (
        <>
          {/* Whoever comes by a guest link wants to read along first of all. */}
          {invited !== "" && <GuestEntry session={invited} />}
          <section class="card stack" aria-labelledby="account">
            <h2 id="account">Sign in</h2>
            <SignInForm isAside={invited !== ""} />
            <Providers back={back} onLeave={onLeave} />
          </section>
          {invited === "" && <GuestEntry session="" />}
        </>
      )}
      <ServiceHealth />
    </div>
  );
}

function GuestEntry({ session }: { session: string }): VNode {
  return (
    <section class="card stack" aria-labelledby="guest">
      <h2 id="guest">
        {session === "" ? "Join a conversation as a guest" : "Read along as a guest"}
      </h2>
      <GuestForm session={session} />
    </section>
  );
}

/** The session or code that the address invites to: `/join/CODE` or `/sessions/ID`. */
function sessionIn(path: string): string {
  return /^\/(?:join|sessions)\/([^/]+)/.exec(path)?.[1] ?? "";
}

function GuestForm({ session }: { session: string }): VNode {
  const [, navigate] = useLocation();
  const name = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // On a phone the keyboard would cover what the page is.
    if (session !== "" && matchMedia("(pointer: fine)").matches) name.current?.focus();
  }, [session]);
  const [message, setMessage] = useState("");
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const fields = new FormData(event.currentTarget);
    const code = String(fields.get("code")).trim();
    setBusy(true);
    setMessage("");
    try {
      const id = await joinAsGuest(sessionIn(hashOf(code)) || code, String(fields.get("name")));
      navigate(`/sessions/${id}`, { replace: true });
    } catch (error) {
      setMessage(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      {session === "" ? (
        <TextField label="Link or code that you were given" name="code" required />
      ) : (
        <input type="hidden" name="code" value={session} />
      )}
      <label class="field">
        <span>Your name, as the others will see it</span>
        <input
          ref={name}
          class="input"
          name="name"
          required
          maxLength={80}
          autoComplete="nickname"
        />
      </label>
      <Alert text={message} />
      <div>
        <button
          type="submit"
          class={session === "" ? "button" : "button primary"}
          disabled={isBusy}
        >
          Join
        </button>
      </div>
    </form>
  );
}

/** The route of a pasted link, or "" for a bare code. */
function hashOf(text: string): string {
  const at = text.indexOf("#/");
  return at < 0 ? "" : text.slice(at + 1);
}
