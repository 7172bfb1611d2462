import { signal } from "@preact/signals";

interface User {
  readonly kind: "user";
  readonly token: string;
  /** True where a cookie, which no script can read, renews the token for 12 hours. */
  readonly isRemembered: boolean;
  readonly id: string;
  readonly email: string;
  readonly role: "admin" | "participant" | "moderator";
}

/** Whoever is signed in. Access tokens are in memory only: they end with the page. */
type Account =
  | User
  | {
      readonly kind: "guest";
      readonly token: string;
      readonly id: string;
      readonly name: string;
      /** The one session that it opens. */
      readonly sessionId: string;
    };

export const account = signal<Account | undefined>(undefined);

/** The account of somebody who is a guest for a while; it goes on when they leave. */
export const aside = signal<Account | undefined>(undefined);

/** True while a view waits for its person to sign in again. */
export const askAgain = signal(false);

let waiting: { go: () => void; stop: (error: Error) => void }[] = [];

/** Who was signed in when the right ended; only they may go on in the open view. */
export const lastAccount = signal<Account | undefined>(undefined);

/** How a token is renewed without asking; set by the module that can call the service. */
let renew: ((userId: string) => Promise<string>) | undefined;
let renewing: Promise<boolean> | undefined;

export function renewWith(how: (userId: string) => Promise<string>): void {
  renew = how;
}

const SIGNED_OUT = "You signed out.";

/**
 * Resolves when the same person is signed in once more: by the browser's cookie while it lasts, else
 * in a dialog over the open view. Rejects when they leave instead.
 */
export async function signInAgain(): Promise<void> {
  if (account.value === undefined) throw new Error(SIGNED_OUT);
  renewing ??= renewQuietly().finally(() => {
    renewing = undefined;
  });
  if (await renewing) return;
  lastAccount.value ??= account.value;
  askAgain.value = true;
  await new Promise<void>((go, stop) => waiting.push({ go, stop }));
}

async function renewQuietly(): Promise<boolean> {
  const now = account.value;
  if (now?.kind !== "user" || !now.isRemembered || renew === undefined) return false;
  try {
    const token = await renew(now.id);
    account.value = { ...now, token };
    return true;
  } catch {
    // Over, or unreachable: then the person decides.
    return false;
  }
}

/** Takes a sign-in. True when an open view goes on with it. */
export function signedIn(next: Account): boolean {
  const before = lastAccount.value;
  const isSame = before !== undefined && before.id === next.id;
  account.value = next;
  askAgain.value = false;
  lastAccount.value = undefined;
  const held = waiting;
  waiting = [];
  for (const { go, stop } of held) {
    if (isSame) go();
    else stop(new Error("Somebody else is signed in now."));
  }
  return isSame;
}

/** Forgets whoever is signed in, and everything that waits for them. */
export function forgetAccount(): void {
  account.value = aside.value;
  aside.value = undefined;
  askAgain.value = false;
  lastAccount.value = undefined;
  const held = waiting;
  waiting = [];
  for (const { stop } of held) stop(new Error(SIGNED_OUT));
}
