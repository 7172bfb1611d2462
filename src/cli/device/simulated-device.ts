import type { Attempts } from "../../client/back-off.ts";
import { ApiError } from "../../client/errors.ts";
import type { UserSession } from "../client/user-session.ts";
import type { DeviceOwner, DeviceShelf, SavedDevice } from "./device-shelf.ts";
import { type SessionRequest, VirtualDevice } from "./virtual-device.ts";

const NAME = "Simulated device";
/** A key that expires sooner is renewed first; no recording lasts longer than this. */
const RENEW_BEFORE_MS = 24 * 3_600_000;

interface SimulationOptions {
  readonly user: UserSession;
  readonly shelf: DeviceShelf;
  readonly onRetry?: Attempts["onRetry"] | undefined;
}

interface Recording {
  readonly device: VirtualDevice;
  readonly sessionId: string;
  /** False when the device could not be stored, so that later runs will not find it. */
  readonly isKept: boolean;
}

/**
 * Starts a session with a virtual device of this user and machine. A device records one session at
 * a time: while the stored ones are in use, another one is paired and stored.
 */
export async function startRecording(
  { user, shelf, onRetry }: SimulationOptions,
  { workspaceId, ...wishes }: { workspaceId: string } & SessionRequest,
): Promise<Recording> {
  const { id } = await user.call((client) => client.GET("/auth/me"));
  const owner = { base_url: user.api.baseUrl, user_id: id, workspace_id: workspaceId };
  for (const kept of shelf.find(owner)) {
    const device = new VirtualDevice(user.api, kept, onRetry);
    if (!(await hasGoodKey(device, shelf, owner))) continue;
    const sessionId = await startUnlessBusy(device, wishes);
    if (sessionId !== undefined) return { device, sessionId, isKept: true };
  }
  const device = await VirtualDevice.pair(user, { name: NAME, workspaceId }, onRetry);
  const isKept = keeps(shelf, { ...owner, ...device.pairing });
  return { device, sessionId: await device.startSession(wishes), isKept };
}

/**
 * Stores the device; false when the folder is not writable, which does not prevent the simulation.
 */
function keeps(shelf: DeviceShelf, device: SavedDevice): boolean {
  try {
    shelf.keep(device);
    return true;
  } catch {
    return false;
  }
}

/** Renews a key that expires soon or is no longer accepted; false when the device was unpaired. */
async function hasGoodKey(
  device: VirtualDevice,
  shelf: DeviceShelf,
  owner: DeviceOwner,
): Promise<boolean> {
  const left = Date.parse(device.pairing.expires_at) - Date.now();
  try {
    if (left > RENEW_BEFORE_MS && (await isTaken(device))) return true;
    await device.renewKey();
  } catch (error) {
    if (!isRefused(error)) throw error;
    shelf.forget(device.id);
    return false;
  }
  return keeps(shelf, { ...owner, ...device.pairing });
}

async function isTaken(device: VirtualDevice): Promise<boolean> {
  try {
    await device.heartbeat({});
    return true;
  } catch (error) {
    if (isRefused(error)) return false;
    throw error;
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 404);
}

async function startUnlessBusy(
  device: VirtualDevice,
  wishes: SessionRequest,
): Promise<string | undefined> {
  try {
    return await device.startSession(wishes);
  } catch (error) {
    if (error instanceof ApiError && error.code === "already_recording") return undefined;
    throw error;
  }
}
