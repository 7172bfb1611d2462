import { effect } from "@preact/signals";
import { account, aside } from "../api/account.ts";
import { showToast } from "../parts/toasts.tsx";
import { areUploadsSaved } from "./upload-state.ts";
import type { Uploader } from "./uploader.ts";

/** The code that sends is loaded with the first file, or where an upload was left undone. */
let current: { readonly accountId: string; readonly uploader: Promise<Uploader> } | undefined;

/** Follows who is signed in: each account has its own uploads. For the life of the page. */
export function followAccount(): void {
  effect(() => {
    const accountId = uploadingAccount();
    if (current?.accountId === accountId) return;
    leave();
    if (accountId !== undefined && areUploadsSaved()) void start(accountId).catch(() => undefined);
  });
}

/** Files go on while their person is a guest for a while. */
function uploadingAccount(): string | undefined {
  const who = [account.value, aside.value].find((each) => each?.kind === "user");
  return who?.id;
}

/** Whoever signs in next finds none of the files in this browser. */
function leave(): void {
  const left = current?.uploader;
  current = undefined;
  void left?.then((uploader) => uploader.stop()).catch(() => undefined);
}

function start(accountId: string): Promise<Uploader> {
  const uploader = import("./uploader.ts").then(async (code) => {
    const made = new code.Uploader(accountId);
    // First, so that a file that is chosen again is known.
    await made.takeUp();
    return made;
  });
  current = { accountId, uploader };
  uploader.catch(() => {
    // Not loaded: the next file tries again.
    if (current?.uploader === uploader) current = undefined;
  });
  return uploader;
}

/** Does something with the uploads of whoever is signed in. Never rejects. */
export async function withUploader(deed: (uploader: Uploader) => unknown): Promise<void> {
  const accountId = uploadingAccount();
  if (accountId === undefined) return;
  try {
    await deed(await (current?.uploader ?? start(accountId)));
  } catch {
    showToast("The part of the page that uploads could not be loaded. Please try again.");
  }
}
