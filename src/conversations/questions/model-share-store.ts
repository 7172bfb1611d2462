import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { countTokens, tokensLeft, tokensToday } from "../../postgres/model-tokens.ts";
import type { ModelShare } from "../../wire/gen/voice/v1/text.ts";

const shareRow = z.object({ mayLeave: z.boolean(), used: z.number() });

/** What a workspace's questions may ask a language model for. Throws `unavailable` when storage is away. */
export class ModelShareStore {
  readonly #pool: DatabasePool;
  readonly #dailyTokens: number;

  /** @param dailyTokens the most that the model may read and write a day for one tenant */
  constructor(pool: DatabasePool, dailyTokens: number) {
    this.#pool = pool;
    this.#dailyTokens = dailyTokens;
  }

  /** The share as it is now; none for a workspace that is not there any more. */
  async read(workspaceId: string, tenant: string): Promise<ModelShare> {
    const row = await this.#pool.maybeOne(sql.type(shareRow)`
      select remote_text as "mayLeave", ${tokensToday(sql.fragment`${tenant}::uuid`)} as used
      from workspaces where id = ${workspaceId}`);
    if (row === null) return { mayLeave: false, tenant, tokens: 0, later: false };
    const tokens = tokensLeft(this.#dailyTokens, row.used);
    return { mayLeave: row.mayLeave, tenant, tokens, later: false };
  }

  count(tenant: string, tokens: number): Promise<void> {
    return countTokens(this.#pool, tenant, tokens);
  }
}
