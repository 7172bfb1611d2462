import {
  BriefcaseBusiness,
  CircleUser,
  Drama,
  Fingerprint,
  KeyRound,
  LockKeyhole,
  LogOut,
  Mail,
  Moon,
  SquareTerminal,
  Sun,
  SunMoon,
  Undo2,
  Webhook,
} from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { account, aside } from "./api/account.ts";
import { backToAccount, signOut } from "./api/sign-in.ts";
import { Menu } from "./parts/menu.tsx";
import { chooseTheme, type Theme, theme } from "./parts/theme.ts";
import { LeavingRecordings, useCutRecordings } from "./views/record/cut-recordings.tsx";
import { PasswordDialog } from "./views/sign-in/password-dialog.tsx";

const THEMES: readonly { id: Theme; label: string; Icon: typeof Sun }[] = [
  { id: "system", label: "As the system", Icon: SunMoon },
  { id: "light", label: "Light", Icon: Sun },
  { id: "dark", label: "Dark", Icon: Moon },
];

/** Who is signed in, the look, and the way out. */
export function AccountMenu(): VNode {
  const who = account.value;
  const [isChanging, setChanging] = useState(false);
  return (
    <>
      <ChoicesMenu onPassword={() => setChanging(true)} />
      {isChanging && who?.kind === "user" && <PasswordDialog onClose={() => setChanging(false)} />}
    </>
  );
}

function ChoicesMenu({ onPassword }: { onPassword: () => void }): VNode {
  const who = account.value;
  return (
    <Menu
      label={who === undefined ? "Look of the page" : "Your account"}
      class="button quiet icon"
      button={
        who === undefined ? (
          <SunMoon size={19} aria-hidden="true" />
        ) : (
          <CircleUser size={20} aria-hidden="true" />
        )
      }
    >
      {(close) => (
        <>
          {who && (
            <p class="small soft">
              {who.kind === "user" ? `${who.email} (${who.role})` : `${who.name} (guest)`}
            </p>
          )}
          {who?.kind === "user" && <UserLinks close={close} />}
          {who?.kind === "user" && (
            <button
              type="button"
              class="button quiet"
              onClick={() => {
                close();
                onPassword();
              }}
            >
              <LockKeyhole size={16} aria-hidden="true" /> Change password
            </button>
          )}
          {THEMES.map(({ id, label, Icon }) => (
            <button
              key={id}
              type="button"
              class="button quiet"
              aria-pressed={theme.value === id}
              onClick={() => {
                chooseTheme(id);
                close();
              }}
            >
              <Icon size={16} aria-hidden="true" /> {label}
              {theme.value === id && <span class="soft small push">now</span>}
            </button>
          ))}
          {aside.value?.kind === "user" && <BackButton email={aside.value.email} close={close} />}
          {who && <SignOutButton close={close} />}
        </>
      )}
    </Menu>
  );
}

function SignOutButton({ close }: { close: () => void }): VNode {
  const id = account.value?.id;
  const unfinished = useCutRecordings().filter(({ userId }) => userId === id);
  const [isAsking, setAsking] = useState(false);
  const leave = () => {
    setAsking(false);
    close();
    void signOut();
  };
  return (
    <>
      <button
        type="button"
        class="button quiet"
        onClick={() => (unfinished.length > 0 ? setAsking(true) : leave())}
      >
        <LogOut size={16} aria-hidden="true" /> Sign out
      </button>
      {isAsking && (
        <LeavingRecordings
          recordings={unfinished}
          onStay={() => {
            setAsking(false);
            close();
          }}
          onLeave={leave}
        />
      )}
    </>
  );
}

const LINKS: readonly { href: string; label: string; Icon: typeof Sun }[] = [
  { href: "/invitations", label: "Invitations", Icon: Mail },
  { href: "/voice", label: "Your voice", Icon: Fingerprint },
  { href: "/workspaces", label: "Workspaces", Icon: BriefcaseBusiness },
  { href: "/workshops", label: "Workshops", Icon: Drama },
  { href: "/keys", label: "API keys", Icon: KeyRound },
  { href: "/webhooks", label: "Webhooks", Icon: Webhook },
  { href: "/terminal", label: "Terminal and API", Icon: SquareTerminal },
];

function UserLinks({ close }: { close: () => void }): VNode {
  return (
    <>
      {LINKS.map(({ href, label, Icon }) => (
        <Link key={href} class="button quiet" href={href} onClick={close}>
          <Icon size={16} aria-hidden="true" /> {label}
        </Link>
      ))}
    </>
  );
}

/** For somebody who is a guest while signed in. */
function BackButton({ email, close }: { email: string; close: () => void }): VNode {
  const [, navigate] = useLocation();
  return (
    <button
      type="button"
      class="button quiet"
      onClick={() => {
        close();
        void backToAccount();
        navigate("/");
      }}
    >
      <Undo2 size={16} aria-hidden="true" /> Leave, back to {email}
    </button>
  );
}
