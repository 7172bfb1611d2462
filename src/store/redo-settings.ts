import { type DatabasePool, sql } from "slonik";
import type { RedoOptions, RedoSettings } from "../api/transcription-redo.ts";

export class PostgresRedoSettings implements RedoSettings {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async save(jobId: string, { forcedLanguage, vocabulary }: RedoOptions): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update jobs set forced_language = ${forcedLanguage ?? null} where id = ${jobId}`);
    if (vocabulary === undefined) return;
    await this.#pool.query(sql.unsafe`
      update sessions set vocabulary = ${JSON.stringify(vocabulary)}::jsonb
      where id = (select session_id from jobs where id = ${jobId})`);
  }
}
