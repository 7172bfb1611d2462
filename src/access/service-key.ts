import { isApiKey, newApiKey } from "./api-key.ts";

const PREFIX = "vk_svc_";

/** A new service key. */
export function newServiceKey(): string {
  return newApiKey(PREFIX);
}

/** True when `text` has the form and checksum of a service key; says nothing of its validity. */
export function isServiceKey(text: string): boolean {
  return isApiKey(PREFIX, text);
}
