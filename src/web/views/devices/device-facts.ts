import type { Device, WorkspaceMember } from "../../api/records.ts";

/** How a list shows what state something is in. */
interface Status {
  readonly label: string;
  readonly tone: "good" | "warn" | "danger" | undefined;
}

type Facts = Pick<
  Device,
  "status" | "suspended" | "presence" | "last_seen_at" | "model" | "device_serial"
>;

/** Whether the device is there, or why it cannot be. */
export function statusOf(device: Omit<Facts, "model" | "device_serial">): Status {
  const { status, suspended, presence, last_seen_at: seen } = device;
  if (status === "revoked") return { label: "Unpaired", tone: undefined };
  if (status === "pairing") return { label: "Shows its code", tone: "warn" };
  if (suspended) return { label: "Suspended", tone: "danger" };
  if (presence === "online") return { label: "Online", tone: "good" };
  if (seen === undefined) return { label: "Not heard of yet", tone: "warn" };
  return { label: "Offline", tone: undefined };
}

/** How the serial number of every virtual device begins. */
const VIRTUAL = "virtual-";

/** What it is: a browser's microphone, a program, or a thing that was paired with a code. */
export function kindOf(device: Pick<Device, "model" | "device_serial">) {
  if (!device.device_serial.startsWith(VIRTUAL)) return "hardware";
  return device.model === "browser" ? "browser" : "program";
}

const OLD_MS = 30 * 24 * 60 * 60_000;

/** The person's own browsers that have not recorded for 30 days. */
export function oldBrowsersIn(devices: readonly Device[], me: string, now: Date): Device[] {
  return devices.filter((device) => {
    const { owner_id: owner, status, last_seen_at: seen } = device;
    if (owner !== me || status !== "paired" || kindOf(device) !== "browser") return false;
    return seen !== undefined && now.getTime() - Date.parse(seen) > OLD_MS;
  });
}

interface Battery {
  readonly percent: number;
  readonly level: "low" | "medium" | "full";
}

const LOW_PERCENT = 20;
const MEDIUM_PERCENT = 70;

/** Of its newest heartbeat; undefined for a device that tells nothing of one. */
export function batteryOf(telemetry: Device["telemetry"]): Battery | undefined {
  const { battery_percent: said } = telemetry;
  if (typeof said !== "number" || !(said >= 0 && said <= 100)) return undefined;
  const percent = Math.round(said);
  if (percent < LOW_PERCENT) return { percent, level: "low" };
  return { percent, level: percent < MEDIUM_PERCENT ? "medium" : "full" };
}

/** Parts of sound that wait on the device for a network. */
export function waitingOn(telemetry: Device["telemetry"]): number {
  const { buffered_chunks: said } = telemetry;
  return typeof said === "number" && said > 0 ? said : 0;
}

/** Who paired it: `you`, a name, an address; undefined for somebody who is not a member now. */
export function ownerOf(
  { owner_id: id }: Pick<Device, "owner_id">,
  me: string | undefined,
  members: readonly Pick<WorkspaceMember, "user_id" | "name" | "email">[],
): string | undefined {
  if (id === undefined) return undefined;
  if (id === me) return "you";
  const found = members.find(({ user_id: each }) => each === id);
  return found && (found.name || found.email);
}

const CODE_LENGTH = 8;

/** A code as people read it, `BCDF-GHJK`: of what was typed, or of a link that holds one. */
export function codeIn(text: string): string {
  const link = /#\/devices\/pair\/([^/?#\s]+)/.exec(text)?.[1];
  const code = (link ?? text).replaceAll(/[\s-]/g, "").toUpperCase();
  return code.length === CODE_LENGTH ? `${code.slice(0, 4)}-${code.slice(4)}` : code;
}
