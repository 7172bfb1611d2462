import { createHash, webcrypto } from "node:crypto";
import { open } from "node:fs/promises";

/** One step of a file, less than a millisecond of hashing. */
const STEP = 256 * 1024;

/** SHA-256 in hex, computed beside the event loop. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest("SHA-256", bytes)).toString("hex");
}

export interface HashedFile {
  /** Hex. */
  sha256: string;
  bytes: number;
}

/** Reads a file in small steps, between which other work goes on. Rejects with the system's error. */
export async function sha256OfFile(path: string): Promise<HashedFile> {
  const file = await open(path, "r");
  try {
    const hash = createHash("sha256");
    const step = Buffer.allocUnsafe(STEP);
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await file.read(step, 0, STEP, bytes);
      if (bytesRead === 0) return { sha256: hash.digest("hex"), bytes };
      hash.update(step.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}
