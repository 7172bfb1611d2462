import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { configFolder, writePrivately } from "../client/credentials.ts";

/** A paired virtual device, as stored. */
export interface SavedDevice {
  readonly base_url: string;
  /** Id of the user who paired it. */
  readonly user_id: string;
  readonly workspace_id: string;
  readonly device_id: string;
  /** Can fetch fresh keys until the device is unpaired. */
  readonly pairing_secret: string;
  readonly api_key: string;
  readonly expires_at: string;
}

export type DeviceOwner = Pick<SavedDevice, "base_url" | "user_id" | "workspace_id">;

/**
 * The virtual devices of this user on this machine, one file each, so that concurrent runs do not
 * overwrite each other's.
 */
export class DeviceShelf {
  readonly folder: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.folder = join(configFolder(env), "devices");
  }

  /** Finds the devices of an owner, oldest first. */
  find({ base_url, user_id, workspace_id }: DeviceOwner): SavedDevice[] {
    return this.#read().filter(
      (kept) =>
        kept.base_url === base_url &&
        kept.user_id === user_id &&
        kept.workspace_id === workspace_id,
    );
  }

  keep(device: SavedDevice): void {
    writePrivately(this.#file(device.device_id), device);
  }

  forget(deviceId: string): void {
    rmSync(this.#file(deviceId), { force: true });
  }

  #file(deviceId: string): string {
    return join(this.folder, `${deviceId}.json`);
  }

  /**
   * Reads all devices; ids rise with time. Unreadable files are skipped, because pairing a new
   * device is easy.
   */
  #read(): SavedDevice[] {
    return this.#names().flatMap((name) => {
      try {
        const content: unknown = JSON.parse(readFileSync(join(this.folder, name), "utf8"));
        return isKept(content) ? [content] : [];
      } catch {
        return [];
      }
    });
  }

  #names(): string[] {
    try {
      return readdirSync(this.folder)
        .filter((name) => name.endsWith(".json"))
        .sort();
    } catch {
      return [];
    }
  }
}

const MEMBERS: readonly (keyof SavedDevice)[] = [
  "base_url",
  "user_id",
  "workspace_id",
  "device_id",
  "pairing_secret",
  "api_key",
  "expires_at",
];

function isKept(content: unknown): content is SavedDevice {
  if (typeof content !== "object" || content === null) return false;
  const members = content as Record<string, unknown>;
  return MEMBERS.every((name) => typeof members[name] === "string");
}
