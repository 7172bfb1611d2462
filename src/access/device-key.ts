import { isApiKey, newApiKey } from "./api-key.ts";

const PREFIX = "vk_dev_";

/** A new device API key. */
export function newDeviceKey(): string {
  return newApiKey(PREFIX);
}

/** True when `text` has the form and checksum of a device key; says nothing of its validity. */
export function isDeviceKey(text: string): boolean {
  return isApiKey(PREFIX, text);
}
