export interface DeviceKeyStanding {
  keyId: string;
  deviceId: string;
  workspaceId: string;
  ownerId: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

/** The device keys on record. */
export interface DeviceKeyBook {
  /** Undefined when unknown or revoked, or the device unpaired, or the user who paired it disabled. */
  standingByHash(keyHash: Uint8Array): Promise<DeviceKeyStanding | undefined>;
  standingByKey(keyId: string): Promise<DeviceKeyStanding | undefined>;
}
