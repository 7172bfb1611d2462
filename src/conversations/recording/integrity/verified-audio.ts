import { errorMessage } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { CommandNotifier } from "../../../postgres/outbox.ts";
import type { AudioDamageStore, AudioFile } from "./audio-damage-store.ts";
import { type Damage, DamagedAudio, damageOf, judge, passing } from "./file-damage.ts";
import { type HashedFile, sha256Of } from "./sha256.ts";

/** A redaction may replace a file between a look at its row and one at its bytes. */
const TRIES = 2;

interface VerifiedAudioOptions {
  files: {
    /** Throws `not_found` when there is no such file, `unavailable` when the whole folder is away. */
    read(sessionId: string, sha256: string): Promise<Buffer>;
    /** Throws `not_found`, and the system's error of this one file. */
    digest(sessionId: string, sha256: string): Promise<HashedFile>;
    /** A log of a stream. Throws `not_found`, and `unavailable` when the whole folder is away. */
    readLog(sessionId: string, log: string): Promise<Buffer>;
    /** Throws `unavailable` when the whole folder is away. */
    assertThere(): Promise<void>;
  };
  records: Pick<AudioDamageStore, "facts" | "note" | "mended" | "learn">;
  notifier: CommandNotifier;
  log: Log;
}

/** Reads stored audio and compares it with the SHA-256 on record. Damage is noted, and told once. */
export class VerifiedAudio {
  readonly #options: VerifiedAudioOptions;
  readonly #found = new Map<string, number>();

  constructor(options: VerifiedAudioOptions) {
    this.#options = options;
  }

  /** Damaged chunks that were found here, by kind. */
  get found(): ReadonlyMap<string, number> {
    return this.#found;
  }

  /**
   * The bytes of a file. Throws `DamagedAudio` when they are not those that were stored, what
   * reading throws otherwise, and `unavailable`.
   *
   * @param digests SHA-256 in hex of what its chunk may hold; undefined where that is not known
   */
  async read(
    sessionId: string,
    sha256: string,
    digests: readonly string[] | undefined,
  ): Promise<Buffer> {
    const { files, records } = this.#options;
    const bytes = await files.read(sessionId, sha256);
    if (digests === undefined || digests.includes(await sha256Of(bytes))) return bytes;
    // It was replaced meanwhile, or is shared with another chunk.
    for (let look = 1; ; look += 1) {
      const facts = await records.facts({ sessionId, sha256 });
      const again = await files.read(sessionId, sha256);
      const found = { sha256: await sha256Of(again), bytes: again.byteLength };
      const damage = facts && judge(facts, found);
      if (damage === undefined) return again;
      if (look === TRIES) throw new DamagedAudio(damage);
    }
  }

  /** A log of a stream, whose entries have their own checksums. Throws `not_found` and `unavailable`. */
  readLog(sessionId: string, log: string): Promise<Buffer> {
    return this.#options.files.readLog(sessionId, log);
  }

  /**
   * Reads a file in small steps and notes what is wrong with it, or that it is whole again. Throws `unavailable` when that
   * cannot be said.
   */
  async check(file: AudioFile): Promise<{ damage?: Damage; bytes: number }> {
    for (let look = 1; ; look += 1) {
      const { damage, bytes } = await this.#tryRead(file);
      if (damage === undefined) return { bytes };
      if (look < TRIES) continue;
      await this.note(file, damage);
      return { damage, bytes };
    }
  }

  /** Notes damage: in the record, the metric, webhooks and, when it is news, the log. Never rejects. */
  async note(file: AudioFile, { kind, message }: Damage): Promise<void> {
    const { records, log } = this.#options;
    const fields = { session_id: file.sessionId, file: file.sha256, kind };
    try {
      const news = await records.note(file, kind);
      if (news === 0) return;
      this.#found.set(kind, (this.#found.get(kind) ?? 0) + news);
      log.error({ ...fields, chunks: news }, message);
    } catch (error) {
      log.warn({ ...fields, error: errorMessage(error) }, "damaged audio could not be noted yet");
    }
  }

  async #tryRead({ sessionId, sha256 }: AudioFile): Promise<{ damage?: Damage; bytes: number }> {
    const { files, records, notifier } = this.#options;
    const facts = await records.facts({ sessionId, sha256 });
    // Nobody names it any more.
    if (facts === undefined) return { bytes: 0 };
    try {
      const found = await files.digest(sessionId, sha256);
      const damage = judge(facts, found);
      if (damage !== undefined) return { damage, bytes: found.bytes };
      if (!facts.isKnown) await records.learn({ sessionId, sha256 }, found);
      // Somebody brought it back, as from a backup.
      if (facts.isNoted) notifier.notify(await records.mended({ sessionId, sha256 }));
      return { bytes: found.bytes };
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw passing(error);
      if (damage.kind === "gone") await files.assertThere();
      return { damage, bytes: 0 };
    }
  }
}
