import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";
import { tokensLeft, tokensToday } from "../../postgres/model-tokens.ts";
import { tenantOf } from "../../postgres/tenants.ts";
import type { ModelShare } from "../../wire/gen/voice/v1/text.ts";
import type { ClaimedJob } from "../jobs/queue.ts";

/** What a job may ask a language model for. */
interface JobModel {
  share: ModelShare;
  /** 0: it makes the summary by rule; else how often it has a model asked to word that, from 1. */
  attempt: number;
}

const shareRow = z.object({
  mayLeave: z.boolean(),
  tenant: z.string(),
  used: z.number(),
  attempt: z.number(),
});

const tenantOfSession = sql.fragment`coalesce(${tenantOf(sql.fragment`s.workspace_id`)}, s.workspace_id)`;

/** @param dailyTokens the most that the model may read and write a day for one tenant */
export async function readModelShare(
  tx: CommonQueryMethods,
  job: ClaimedJob,
  dailyTokens: number,
): Promise<JobModel> {
  const { mayLeave, tenant, used, attempt } = await tx.one(sql.type(shareRow)`
    select
      w.remote_text as "mayLeave", t.tenant, j.model_attempt as attempt,
      ${tokensToday(sql.fragment`t.tenant`)} as used
    from jobs j
    join sessions s on s.id = j.session_id
    join workspaces w on w.id = s.workspace_id
    cross join lateral (select ${tenantOfSession} as tenant) as t
    where j.id = ${job.id}`);
  const tokens = tokensLeft(dailyTokens, used);
  return { share: { mayLeave, tenant, tokens, later: attempt === 0 }, attempt };
}
