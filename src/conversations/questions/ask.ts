import type { FairTurns } from "../../base/work/fair-turns.ts";
import type { Tenants } from "../../postgres/tenants.ts";
import {
  type AskableWorkspace,
  requireAskableWorkspace,
  type WorkspaceQuestionOptions,
} from "./askable.ts";
import {
  type Asked,
  answerFromSession,
  answerFromWorkspace,
  type QuestionAnswer,
  type RuleOptions,
} from "./by-rule.ts";
import type { ModelAnswers } from "./model-answers.ts";

/** Most characters of a question. */
export const MAX_QUESTION = 2_000;

export interface QuestionOptions extends RuleOptions, WorkspaceQuestionOptions {
  /** Questions are answered for tenants in turn; each holds many passages in memory. */
  turns: Pick<FairTurns, "run">;
  tenants: Tenants;
  /** A language model, where there is one. */
  byModel: Pick<ModelAnswers, "answer">;
}

/** Answers a question from one session. The caller must have the right to ask about it. */
export async function askSession(
  options: QuestionOptions,
  sessionId: string,
  asked: Asked,
): Promise<QuestionAnswer> {
  const tenant = await options.tenants.ofSession(sessionId);
  return options.turns.run(
    tenant,
    () => answerFromSession(options, sessionId, asked),
    asked.signal,
  );
}

/**
 * Answers a question from the sessions of a workspace: by a language model that searches them, where there
 * is one which may, else by rule. `toolsUsed` names what was really done, in order.
 */
export async function askWorkspace(
  options: QuestionOptions,
  workspace: AskableWorkspace,
  asked: Asked,
): Promise<QuestionAnswer> {
  const { workspaceId, principal } = workspace;
  const tenant = await options.tenants.ofWorkspace(workspaceId);
  const attempt = await options.byModel.answer(workspace, asked, tenant);
  if (attempt?.answer !== undefined) return attempt.answer;
  // The model took a while, and rights may have ended meanwhile.
  const now =
    attempt === undefined
      ? workspace
      : await requireAskableWorkspace(options, principal, workspaceId);
  const answer = () => answerFromWorkspace(options, now, asked);
  const byRule = await options.turns.run(tenant, answer, asked.signal);
  return { ...byRule, toolsUsed: [...(attempt?.toolsUsed ?? []), ...byRule.toolsUsed] };
}
