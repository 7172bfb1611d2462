import { signal } from "@preact/signals";
import { account } from "./api/account.ts";
import { ApiFailure } from "./api/client.ts";
import { isRemembered, signInRemembered, signInWithLink, signInWithToken } from "./api/sign-in.ts";
import { tell } from "./parts/toasts.tsx";

/** What somebody who comes by a link is told above the form; "" for nothing. */
export const arrival = signal("");
/** True while a link's token is being exchanged. */
export const arriving = signal(false);

/** True while it is found out whether the browser's cookie still signs in. */
export const returning = signal(false);

const RETURN_KEY = "voice.return-to";

/**
 * Signs in with what a mailed link or the way back from an identity provider brings in the address,
 * whose secret leaves address bar and history before anything else happens.
 */
export function takeLink(): void {
  const { hash } = location;
  const mailed = /^#\/sign-in\?token=([^&]*)/.exec(hash)?.[1];
  const returned = /^#(?=token=|error=)(.*)/.exec(hash)?.[1];
  if (mailed === undefined && returned === undefined) return tellInvited(hash);
  const back = returned === undefined ? "" : (sessionStorage.getItem(RETURN_KEY) ?? "");
  sessionStorage.removeItem(RETURN_KEY);
  history.replaceState(null, "", location.pathname + location.search + safeRoute(back));
  // The router hears of the new address by this event only.
  dispatchEvent(new HashChangeEvent("hashchange"));
  if (mailed !== undefined) void arrive(() => signInWithLink(decoded(mailed)), LINK_OVER);
  else void returnFromProvider(new URLSearchParams(returned));
}

/** Goes on where somebody was who loads the page again, and wanted to stay signed in. */
export async function takeUp(): Promise<void> {
  if (account.value !== undefined || arriving.value || !isRemembered()) return;
  returning.value = true;
  try {
    await signInRemembered();
  } catch (error) {
    arrival.value = error instanceof Error ? error.message : String(error);
  } finally {
    returning.value = false;
  }
}

const LINK_OVER = "This link was used before, or its 10 minutes are over. Ask for a new one:";

async function returnFromProvider(answer: URLSearchParams): Promise<void> {
  const token = answer.get("token");
  if (token === null) {
    arrival.value = `The sign-in did not succeed (${answer.get("error") ?? "unknown"}).`;
    return;
  }
  await arrive(() => signInWithToken(token), "This sign-in is over. Please sign in once more.");
}

async function arrive(signIn: () => Promise<unknown>, isOver: string): Promise<void> {
  arriving.value = true;
  arrival.value = "";
  try {
    await signIn();
    const who = account.value;
    if (who?.kind === "user") tell(`You are signed in as ${who.email} (${who.role}).`);
  } catch (error) {
    const status = error instanceof ApiFailure ? error.status : 0;
    const isRefused = status === 400 || status === 401;
    const said = error instanceof Error ? error.message : String(error);
    arrival.value = isRefused ? isOver : `${said} Open the link once more.`;
  } finally {
    arriving.value = false;
  }
}

function tellInvited(hash: string): void {
  if (hash !== "#/invitations" || account.value !== undefined) return;
  arrival.value =
    "To see your invitation, have a sign-in link sent to the address at which you are invited.";
}

/** Keeps where one is for the way back from an identity provider. */
export function rememberPlace(): void {
  sessionStorage.setItem(RETURN_KEY, location.hash);
}

function safeRoute(hash: string): string {
  return hash.startsWith("#/") ? hash : "";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
