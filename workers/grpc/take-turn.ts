import { AppError } from "../../src/base/errors.ts";
import { ModelTurn, ModelTurnRequest } from "../../src/wire/gen/voice/v1/retrieval.ts";
import type { ModelTurns } from "../text/model-answers/model-turns.ts";
import type { TextWork } from "../threads/text-calls.ts";

/** Has a language model take one turn at a question. */
export async function takeTurn(
  { request, onMessage, signal }: Omit<TextWork, "task">,
  turns: ModelTurns | undefined,
): Promise<void> {
  if (turns === undefined) throw new AppError("bad_request", "This worker has no language model.");
  const turn = await turns.take(decode(request), signal);
  onMessage(ModelTurn.encode(turn).finish());
}

function decode(request: Uint8Array): ModelTurnRequest {
  try {
    return ModelTurnRequest.decode(request);
  } catch (error) {
    throw new AppError("bad_request", "The request is no ModelTurnRequest.", { cause: error });
  }
}
