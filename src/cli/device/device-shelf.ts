import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { configFolder, writePrivately } from "../client/credentials.ts";

/** A paired device of software, as it is found again. */
export interface KeptDevice {
  readonly base_url: string;
  /** Who paired it. */
  readonly user_id: string;
  readonly workspace_id: string;
  readonly device_id: string;
  /** Good for fresh keys until the device is unpaired. */
  readonly pairing_secret: string;
  readonly api_key: string;
  readonly expires_at: string;
}

export type DeviceOwner = Pick<KeptDevice, "base_url" | "user_id" | "workspace_id">;

/**
 * The simulated devices of this user of this machine, one file each, so that runs at the same time
 * do not overwrite what the others keep.
 */
export class DeviceShelf {
  readonly folder: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.folder = join(configFolder(env), "devices");
  }

  /** Oldest first. */
  find({ base_url, user_id, workspace_id }: DeviceOwner): KeptDevice[] {
    return this.#read().filter(
      (kept) =>
        kept.base_url === base_url &&
        kept.user_id === user_id &&
        kept.workspace_id === workspace_id,
    );
  }

  keep(device: KeptDevice): void {
    writePrivately(this.#file(device.device_id), device);
  }

  forget(deviceId: string): void {
    rmSync(this.#file(deviceId), { force: true });
  }

  #file(deviceId: string): string {
    return join(this.folder, `${deviceId}.json`);
  }

  /** Ids rise with time. What cannot be read is as if it were not there: a device is soon paired. */
  #read(): KeptDevice[] {
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

const MEMBERS: readonly (keyof KeptDevice)[] = [
  "base_url",
  "user_id",
  "workspace_id",
  "device_id",
  "pairing_secret",
  "api_key",
  "expires_at",
];

function isKept(content: unknown): content is KeptDevice {
  if (typeof content !== "object" || content === null) return false;
  const members = content as Record<string, unknown>;
  return MEMBERS.every((name) => typeof members[name] === "string");
}
