/** How many of somebody's credentials are suspended. */
export interface SuspendedCredentials {
  keys: number;
  devices: number;
  webhooks: number;
}

/** A sentence about them, with a space before it; "" when there are none. */
export function suspendedSentence({ keys, devices, webhooks }: SuspendedCredentials): string {
  const parts = [
    counted(keys, "service key"),
    counted(devices, "device"),
    counted(webhooks, "webhook"),
  ].filter((part) => part !== "");
  if (parts.length === 0) return "";
  const last = parts.pop() ?? "";
  const all = parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
  return ` Of this user ${all} ${keys + devices + webhooks === 1 ? "is" : "are"} suspended; an owner can take keys and webhooks over, and pair devices anew.`;
}

function counted(count: number, what: string): string {
  if (count === 0) return "";
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
