import type { Log } from "../../../base/log.ts";
import type { CommandNotifier } from "../../../postgres/outbox.ts";
import type { UploadContent } from "../../../rest/route.ts";
import type { AudioDamageStore, AudioFile } from "./audio-damage-store.ts";
import { damageOf, judge, passing } from "./file-damage.ts";
import type { HashedFile } from "./sha256.ts";

interface AudioMendingOptions {
  files: {
    /** Throws `not_found`, and the system's error of this one file. */
    digest(sessionId: string, sha256: string): Promise<HashedFile>;
    /** Puts it in the place of whatever has the file's name; durable on return. */
    restore(sessionId: string, sha256: string, content: UploadContent): Promise<void>;
  };
  records: Pick<AudioDamageStore, "facts" | "mended">;
  notifier: CommandNotifier;
  log: Log;
}

/** Sound that came again, with length and digest in hex as it is to be stored. */
interface SentAgain {
  content: UploadContent;
  bytes: number;
  storedSha256: string;
}

/**
 * Stores sound once more whose file is gone or damaged when its device sends it again, and has its
 * stretch read again.
 */
export class AudioMending {
  readonly #options: AudioMendingOptions;

  constructor(options: AudioMendingOptions) {
    this.#options = options;
  }

  /**
   * Leaves a file as it is that holds what is on record, and one that was silenced: the sound that
   * comes again still has what was taken out. Throws `storage_full` and `unavailable`.
   *
   * @param isKnown a chunk names the file; otherwise there is mostly none
   */
  async mend(file: AudioFile, sent: SentAgain, isKnown: boolean): Promise<void> {
    const { files, records, log } = this.#options;
    const { sessionId, sha256 } = file;
    const found = await this.#digest(file);
    if (found === "gone" && !isKnown) return;
    const facts = await records.facts(file);
    // Without a chunk it is what an upload left that came to nothing.
    const isWhole =
      typeof found === "object" &&
      (facts === undefined
        ? found.sha256 === sent.storedSha256
        : judge(facts, found) === undefined);
    if (isWhole) {
      if (facts?.isNoted) await this.#mended(file);
      return;
    }
    if (facts?.isSilenced) return;
    await files.restore(sessionId, sha256, sent.content);
    if (facts === undefined) return;
    log.info({ session_id: sessionId, file: sha256 }, "damaged audio came again and is whole");
    // Another decoder may have come to other samples.
    const isOther = !facts.digests.includes(sent.storedSha256);
    await this.#mended(file, isOther ? sent : undefined);
  }

  async #mended(file: AudioFile, other?: SentAgain): Promise<void> {
    const { records, notifier } = this.#options;
    notifier.notify(await records.mended(file, other));
  }

  async #digest({ sessionId, sha256 }: AudioFile) {
    try {
      return await this.#options.files.digest(sessionId, sha256);
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw passing(error);
      return damage.kind === "gone" ? "gone" : "unreadable";
    }
  }
}
