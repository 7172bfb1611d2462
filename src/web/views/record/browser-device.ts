import { ApiError } from "../../../client/errors.ts";
import { call } from "../../api/client.ts";

/** The device's key is in memory only; its id, which opens nothing, is found again. */
export interface BrowserDevice {
  readonly id: string;
  readonly key: string;
}

const known = new Map<string, BrowserDevice>();

/** This browser's virtual device in a workspace, of this person; made the first time. */
export async function browserDevice(userId: string, workspaceId: string): Promise<BrowserDevice> {
  const name = `voice.device.${userId}.${workspaceId}`;
  const ready = known.get(name);
  if (ready !== undefined) return ready;
  const device = (await foundAgain(name)) ?? (await made(name, workspaceId));
  known.set(name, device);
  return device;
}

/** Forgets the key, so that the next recording asks for a fresh one. */
export function forgetKeys(): void {
  known.clear();
}

async function foundAgain(name: string): Promise<BrowserDevice | undefined> {
  const id = kept(name);
  if (id === undefined) return undefined;
  try {
    const body = { device_id: id };
    const { api_key: key } = await call((api) => api.POST("/devices/pair/claim-auth", { body }));
    return { id, key };
  } catch (error) {
    // It was unpaired meanwhile: another takes its place.
    const isGone = error instanceof ApiError && [401, 403, 404].includes(error.status);
    if (isGone) return undefined;
    throw error;
  }
}

async function made(name: string, workspaceId: string): Promise<BrowserDevice> {
  const body = { workspace_id: workspaceId, name: describeBrowser(), model: "browser" };
  const { device_id: id, api_key: key } = await call((api) => api.POST("/devices", { body }));
  try {
    localStorage.setItem(name, id);
  } catch {
    // A browser that keeps nothing makes a new one each time.
  }
  return { id, key };
}

function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** `Firefox on Linux`, as far as the browser tells. */
function describeBrowser(agent = navigator.userAgent): string {
  const pick = (names: readonly string[]) => names.find((name) => agent.includes(name));
  const browser = pick(["Firefox", "Edg", "Chrome", "Safari"])?.replace("Edg", "Edge") ?? "Browser";
  const system = pick(["Android", "iPhone", "iPad", "Windows", "Mac", "Linux"]);
  return system === undefined ? browser : `${browser} on ${system}`;
}
