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

  /** The share as it is now. */
  async read(workspaceId: string, tenant: string): Promise<ModelShare> {
    const { mayLeave, used } = await this.#pool.one(sql.type(shareRow)`
      select remote_text as "mayLeave", ${tokensToday(sql.fragment`${tenant}::uuid`)} as used
      from workspaces where id = ${workspaceId}`);
    return { mayLeave, tenant, tokens: tokensLeft(this.#dailyTokens, used), later: false };
  }

  count(tenant: string, tokens: number): Promise<void> {
    return countTokens(this.#pool, tenant, tokens);
  }
}
