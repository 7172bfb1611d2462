import { join } from "node:path";
import type { Page, Request } from "playwright-core";

/** 42 s of three voices, 1.3 MB. */
export const CONVERSATION = join(import.meta.dirname, "../../deploy/demo/conversation.wav");
export const NAME = "conversation.wav";
/** So slow that there is time to press something while the file goes. */
export const SLOW = 120_000;

/** A file that is made in the page, as one that is dropped or pasted. */
export interface Made {
  name: string;
  type: string;
  bytes: Uint8Array;
}

export function rowOf(page: Page, name: string) {
  return page.locator(".upload-row", { hasText: name });
}

/** Chooses a file in the dialog that a button opens. */
export async function choose(page: Page, button: string, file: string): Promise<void> {
  const [dialog] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("button", { name: button }).first().click(),
  ]);
  await dialog.setFiles(file);
}

/** Begins to upload the conversation, slowly, until the service has a part of it. */
export async function begin(page: Page): Promise<void> {
  await slowDown(page, SLOW);
  await choose(page, "Upload", CONVERSATION);
  await rowOf(page, NAME)
    .getByText(/[2-9]\d %/)
    .waitFor();
}

/** How many bytes a second the page may send; -1 for as many as it can. */
export async function slowDown(page: Page, uploadThroughput: number): Promise<void> {
  const known = debuggers.get(page) ?? (await page.context().newCDPSession(page));
  debuggers.set(page, known);
  await known.send("Network.enable");
  const others = { offline: false, latency: 0, downloadThroughput: -1 };
  await known.send("Network.emulateNetworkConditions", { ...others, uploadThroughput });
}

const debuggers = new WeakMap<
  Page,
  Awaited<ReturnType<ReturnType<Page["context"]>["newCDPSession"]>>
>();

export function requestsOf(page: Page, method: string, address: RegExp): Request[] {
  const found: Request[] = [];
  page.on("request", (request) => {
    if (request.method() === method && address.test(request.url())) found.push(request);
  });
  return found;
}

/** From which bytes on the page sends, from now on. */
export function offsetsOf(page: Page): number[] {
  const found: number[] = [];
  page.on("request", (request) => {
    if (request.method() === "PATCH") found.push(Number(request.headers()["upload-offset"]));
  });
  return found;
}

/** Drops or pastes files as somebody does with a mouse or a keyboard. */
export async function hand(page: Page, event: string, files: readonly Made[]): Promise<void> {
  const made = files.map(({ bytes, ...file }) => ({
    ...file,
    bytes: Buffer.from(bytes).toString("base64"),
  }));
  await page.evaluate(`(${HAND})(${JSON.stringify({ event, files: made })})`);
}

const HAND = `({ event, files }) => {
  const brought = new DataTransfer();
  for (const { name, type, bytes } of files) {
    const content = Uint8Array.from(atob(bytes), (each) => each.charCodeAt(0));
    brought.items.add(new File([content], name, { type }));
  }
  const options = { bubbles: true, cancelable: true };
  const made = event === "paste"
    ? new ClipboardEvent(event, { ...options, clipboardData: brought })
    : new DragEvent(event, { ...options, dataTransfer: brought });
  document.querySelector("main").dispatchEvent(made);
}`;

const inFiles = (what: string) => `new Promise((resolve, reject) => {
  const opening = indexedDB.open("voice-uploads");
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const asked = opening.result.transaction(["files"], "readwrite").objectStore("files").${what};
    asked.onsuccess = () => { opening.result.close(); resolve(asked.result); };
  };
})`;
/** Expressions for the page: its kept files are removed, or counted. */
export const FORGET_FILES = inFiles("clear()");
export const COUNT_FILES = inFiles("count()");

export async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Your account" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}
