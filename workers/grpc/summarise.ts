import {
  SummariseRequest,
  SummariseResponse,
  type Summary,
} from "../../src/wire/gen/voice/v1/text.ts";
import {
  decodeGround,
  encodeGround,
  type GroundRequest,
  type GroundResponse,
} from "../text/grounding/ground-task.ts";
import type { ModelNotes } from "../text/model-notes/model-notes.ts";
import type { ThreadPool } from "../threads/pool.ts";
import type { TextWork } from "../threads/text-calls.ts";

/** How much of a summary's work it is to make it by rule first. */
const BY_RULE = 0.2;

/** Compares sentences with what they cite in one of the pool's threads. */
export async function groundInThread(
  pool: Pick<ThreadPool, "text">,
  request: GroundRequest,
  signal: AbortSignal,
): Promise<GroundResponse> {
  let response: GroundResponse = [];
  const onMessage = (message: Uint8Array): void => {
    response = decodeGround<GroundResponse>(message);
  };
  await pool.text({ task: "ground", request: encodeGround(request), onMessage, signal });
  return response;
}

/** Summarises by rule in a thread and then, where that may be, has a language model word the notes. */
export async function summarise(
  { request, onMessage, signal }: Omit<TextWork, "task">,
  pool: Pick<ThreadPool, "text">,
  notes: ModelNotes | undefined,
): Promise<void> {
  const byRule = { task: "summarise", request, signal } as const;
  const decoded = notes === undefined ? undefined : tryDecode(request);
  if (notes === undefined || decoded?.model === undefined)
    return pool.text({ ...byRule, onMessage });
  const send = (message: SummariseResponse["message"]): void =>
    onMessage(SummariseResponse.encode({ message }).finish());
  const progress = (fraction: number): void => send({ $case: "progress", value: { fraction } });
  let summary: Summary | undefined;
  await pool.text({
    ...byRule,
    onMessage: (bytes) => {
      const { message } = SummariseResponse.decode(bytes);
      if (message?.$case === "summary") summary = message.value;
      else if (message !== undefined) progress(BY_RULE * message.value.fraction);
    },
  });
  if (summary === undefined) return;
  const onProgress = (fraction: number): void => progress(BY_RULE + (1 - BY_RULE) * fraction);
  send({ $case: "summary", value: await notes.word(decoded, summary, { signal, onProgress }) });
}

/** Undefined for what the task itself refuses. */
function tryDecode(request: Uint8Array): SummariseRequest | undefined {
  try {
    return SummariseRequest.decode(request);
  } catch {
    return undefined;
  }
}
