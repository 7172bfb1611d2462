import type { QuestionModel } from "../conversations/questions/feature.ts";
import { WorkerRetriever } from "../conversations/questions/worker-retriever.ts";
import { WorkerClient } from "../inference/worker-client.ts";
import { WorkerEntities } from "../inference/worker-entities.ts";
import type { AppContext } from "./shared.ts";

/** The workers, asked for what answers a question. */
export function createRetriever({ config, clock, stack, shared }: AppContext): WorkerRetriever {
  const client = new WorkerClient({ tls: config.tls, now: () => clock.now() });
  stack.push("query client", () => client.close());
  return new WorkerRetriever({ placement: shared.placement, client, key: config.workerKey });
}

/** What a language model may do for questions. */
export function questionModelOf({ config }: AppContext): QuestionModel {
  return { dailyTokens: config.modelTokens, answerMs: config.modelAnswerMs };
}

/** The workers, asked for what a graph is made of. */
export function createExtractor({ config, clock, shared }: AppContext): WorkerEntities {
  const client = new WorkerClient({ tls: config.tls, now: () => clock.now() });
  return new WorkerEntities({ placement: shared.placement, client, key: config.workerKey });
}
