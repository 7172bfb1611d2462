import { errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { KeyRing } from "./key-ring.ts";
import { readSigningKeys, signingKeyNames } from "./signing-key-folder.ts";

const LOOK_EVERY_MS = 5_000;

interface SigningKeyWatchParts {
  folder: string;
  ring: KeyRing;
  /** Told of every key but the first, at the start too; may be told of one again. */
  onAdded: (kid: string) => Promise<void>;
  log: Log;
}

/** Takes keys that were added to the folder into the ring while the process runs. */
export class SigningKeyWatch {
  readonly #parts: SigningKeyWatchParts;
  #names = "";
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: SigningKeyWatchParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    this.#parts.ring.lookWith(() => this.look());
    await this.look();
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Never rejects: with a folder that cannot be read the keys stay as they are. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => {
        this.#parts.log.error({ error: errorMessage(error) }, "signing keys cannot be read");
      })
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { folder, log, onAdded, ring } = this.#parts;
    const names = (await signingKeyNames(folder)).join();
    if (names === this.#names) return;
    const keys = await readSigningKeys(folder);
    const fresh = keys.filter((key) => ring.get(key.kid) === undefined);
    ring.replace(keys);
    for (const { kid } of fresh) log.info({ kid }, "a signing key was added");
    for (const { kid } of keys.slice(1)) await onAdded(kid);
    // Last, so that whatever failed is done at the next look.
    this.#names = names;
  }
}
