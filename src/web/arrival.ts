import { signal } from "@preact/signals";
import { ApiError, VoiceError } from "../client/errors.ts";
import { account } from "./api/account.ts";
import { messageOf } from "./api/client.ts";
import { visitedSession } from "./api/guest-visits.ts";
import {
  comeBackAsGuest,
  isRemembered,
  openInvitation,
  signInRemembered,
  signInWithLink,
  signInWithToken,
} from "./api/sign-in.ts";
import { showToast } from "./parts/toasts.tsx";

/** What somebody who comes by a link is told above the form; "" for nothing. */
export const arrival = signal("");
/** True while a link's token is being exchanged. */
export const arriving = signal(false);

/** True while it is found out whether the browser's cookie still signs in. */
export const returning = signal(false);

/** A mailed link that was opened: it does what it is for once its person says so. */
interface OpenedLink {
  readonly kind: "sign-in" | "invitation";
  readonly token: string;
  /** Of the account, as the link says; the sign-in fails if it is another. */
  readonly email: string;
}

export const openedLink = signal<OpenedLink | undefined>(undefined);

const RETURN_KEY = "voice.return-to";
const NONCE_KEY = "voice.return-nonce";
const NONCE_PARAMETER = "returned";

/**
 * Takes what a mailed link or the way back from an identity provider brings in the address, whose
 * secret leaves address bar and history before anything else happens. A mailed link asks first; the way
 * back signs in only in the tab that began it, as anybody can make an address with a token of their own.
 */
export function takeLink(): void {
  const { hash } = location;
  const mailed = /^#\/sign-in\?(token=.*)/.exec(hash)?.[1];
  const invited = /^#\/invitations\?(token=.*)/.exec(hash)?.[1];
  const returned = /^#(?=token=|error=)(.*)/.exec(hash)?.[1];
  if (invited !== undefined) return takeInvitation(new URLSearchParams(invited));
  if (mailed === undefined && returned === undefined) return showInvited(hash);
  const isOurs = returned !== undefined && hasOwnNonce();
  const back = isOurs ? (sessionStorage.getItem(RETURN_KEY) ?? "") : "";
  sessionStorage.removeItem(RETURN_KEY);
  sessionStorage.removeItem(NONCE_KEY);
  history.replaceState(null, "", location.pathname + searchWithoutNonce() + safeRoute(back));
  // The router hears of the new address by this event only.
  dispatchEvent(new HashChangeEvent("hashchange"));
  if (mailed !== undefined) offer("sign-in", new URLSearchParams(mailed));
  else if (isOurs) void returnFromProvider(new URLSearchParams(returned));
  else refuse(NOT_BEGUN);
}

function takeInvitation(link: URLSearchParams): void {
  history.replaceState(null, "", `${location.pathname}${location.search}#/invitations`);
  dispatchEvent(new HashChangeEvent("hashchange"));
  offer("invitation", link);
}

/** Tells it to whoever is signed in as well, who does not see the form. */
function refuse(why: string): void {
  arrival.value = why;
  if (account.value !== undefined) showToast(why);
}

const NOT_BEGUN = "This sign-in was not begun in this tab. Nobody was signed in by it.";

function offer(kind: OpenedLink["kind"], link: URLSearchParams): void {
  const [token, email] = [link.get("token") ?? "", link.get("email") ?? ""];
  if (token === "" || email === "") refuse(LINK_OVER);
  else openedLink.value = { kind, token, email };
}

/** Signs in by the link that was opened, which then works no more. */
export async function acceptLink(): Promise<void> {
  const link = openedLink.value;
  openedLink.value = undefined;
  if (link?.kind === "sign-in") {
    await arrive(() => signInWithLink(link.token, link.email), LINK_OVER);
  }
  if (link?.kind === "invitation") await arriveInvited(link);
}

const INVITATION_OVER =
  "This invitation was withdrawn, or its 14 days are over. Ask for a new one.";

/** Whoever is signed in with that address sees the invitation at once, others sign in for it. */
async function arriveInvited({ token, email }: OpenedLink): Promise<void> {
  arriving.value = true;
  arrival.value = "";
  try {
    const isMade = await openInvitation(token);
    const who = account.value;
    const isTheirs = who?.kind === "user" && who.email === email;
    if (isMade) showToast(`Your account is made, and you are signed in as ${email}.`);
    else if (!isTheirs) {
      refuse(`The invitation waits for ${email}. Sign in with that address to answer it.`);
    }
  } catch (error) {
    const isOver = error instanceof ApiError && error.status === 401;
    refuse(isOver ? INVITATION_OVER : messageOf(error));
  } finally {
    arriving.value = false;
  }
}

export function declineLink(): void {
  openedLink.value = undefined;
}

/** The address to which an identity provider sends this tab back, and no other. */
export function returnAddress(): string {
  const address = new URL(".", document.baseURI);
  const nonce = sessionStorage.getItem(NONCE_KEY) ?? randomText();
  sessionStorage.setItem(NONCE_KEY, nonce);
  address.searchParams.set(NONCE_PARAMETER, nonce);
  return address.href;
}

/** Also where the page is not served by TLS, and so has no `randomUUID`. */
function randomText(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("");
}

function hasOwnNonce(): boolean {
  const nonce = sessionStorage.getItem(NONCE_KEY);
  return nonce !== null && new URLSearchParams(location.search).get(NONCE_PARAMETER) === nonce;
}

function searchWithoutNonce(): string {
  const search = new URLSearchParams(location.search);
  search.delete(NONCE_PARAMETER);
  return search.size === 0 ? "" : `?${search}`;
}

/**
 * Goes on where somebody was who loads the page again: who wanted to stay signed in, or is a guest of
 * the session that the address names.
 */
export async function takeUp(): Promise<void> {
  if (account.value !== undefined || arriving.value) return;
  const door = /^#\/(?:join|sessions)\/([^/?]+)/.exec(location.hash)?.[1] ?? "";
  if (!isRemembered() && visitedSession(door) === undefined) return;
  returning.value = true;
  try {
    if (isRemembered() && (await signInRemembered())) return;
    const sessionId = await comeBackAsGuest(door);
    if (sessionId !== undefined) location.hash = hashOf(sessionId);
  } catch (error) {
    arrival.value = messageOf(error);
  } finally {
    returning.value = false;
  }
}

/** A guest's code leads to the session; within the session they stay where they were. */
function hashOf(sessionId: string): string {
  const { hash } = location;
  return hash.startsWith(`#/sessions/${sessionId}`) ? hash : `#/sessions/${sessionId}`;
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
    if (who?.kind === "user") showToast(`You are signed in as ${who.email} (${who.role}).`);
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    const isRefused = status === 400 || status === 401;
    const said = messageOf(error);
    const other = error instanceof VoiceError ? `${said} Open the link once more.` : said;
    refuse(isRefused ? isOver : other);
  } finally {
    arriving.value = false;
  }
}

function showInvited(hash: string): void {
  if (hash !== "#/invitations" || account.value !== undefined) return;
  arrival.value =
    "To see your invitation, have a sign-in link sent to the address at which you are invited.";
}

/** Keeps where one is for the way back from an identity provider. */
export function rememberRoute(): void {
  sessionStorage.setItem(RETURN_KEY, location.hash);
}

function safeRoute(hash: string): string {
  return hash.startsWith("#/") ? hash : "";
}
