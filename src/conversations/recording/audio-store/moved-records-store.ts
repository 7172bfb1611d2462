import { type DatabasePool, sql } from "slonik";
import { AudioDamageStore } from "../integrity/audio-damage-store.ts";
import type { MovedRecords } from "./moving-store.ts";

/** What PostgreSQL has of audio that is being moved. */
export class PostgresMovedRecords implements MovedRecords {
  readonly #pool: DatabasePool;
  readonly #files: AudioDamageStore;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
    this.#files = new AudioDamageStore(pool);
  }

  isDeleted(sessionId: string): Promise<boolean> {
    return this.#pool.exists(sql.unsafe`
      select from sessions where id = ${sessionId} and status = 'deleted'`);
  }

  async digests(sessionId: string, sha256: string): Promise<readonly string[] | undefined> {
    const facts = await this.#files.facts({ sessionId, sha256 });
    return facts?.isKnown ? facts.digests : undefined;
  }
}
