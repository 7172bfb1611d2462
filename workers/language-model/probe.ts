import type { ModelAbility } from "../../src/wire/language-model.ts";
import { type ChatClient, type ChatRequest, ModelError } from "./chat-client.ts";

const READY = {
  type: "object",
  properties: { ready: { type: "boolean" } },
  required: ["ready"],
  additionalProperties: false,
};
/** Enough for models that think aloud first. */
const ANSWER_TOKENS = 256;
const SYSTEM = "You answer a check of the connection. Do exactly what is asked, and nothing else.";

/**
 * Finds out what a server can do with its model, the best first: answers that keep to a JSON schema,
 * calls of tools, plain text. Servers refuse what they cannot do, or pass over it without a word, so
 * the answers are looked at. Rejects with ModelError when there is no answer at all.
 */
export async function probeAbilities(
  client: Pick<ChatClient, "chat">,
  signal: AbortSignal,
): Promise<ModelAbility[]> {
  const abilities: ModelAbility[] = [];
  const ask = { system: SYSTEM, answerTokens: ANSWER_TOKENS };
  const schema = { name: "ready", schema: READY };
  const object = 'Answer with the JSON object {"ready": true}.';
  const formed = await tryOut(client, { ...ask, user: object, schema }, signal);
  if (formed !== undefined && isReady(formed.text)) abilities.push("json_schema");
  const tool = {
    name: "report_ready",
    description: "Reports that you are ready.",
    parameters: READY,
  };
  const call = "Call the tool report_ready with ready set to true.";
  const called = await tryOut(client, { ...ask, user: call, tools: [tool] }, signal);
  const isCalled = called?.calls.some((each) => each.name === tool.name && isReady(each.arguments));
  if (isCalled === true) abilities.push("tools");
  if (formed === undefined || formed.text === "") {
    const plain = await client.chat({ ...ask, user: "Answer with the word ready." }, signal);
    if (plain.text === "") throw new ModelError("away", "The language model answers with nothing.");
  }
  return abilities;
}

/** Undefined when the server refuses such a request. */
async function tryOut(client: Pick<ChatClient, "chat">, request: ChatRequest, signal: AbortSignal) {
  try {
    return await client.chat(request, signal);
  } catch (error) {
    // Some servers fail with 500 at what they do not know; whether they are away shows the next try.
    if (error instanceof ModelError && error.fault !== "refused") return undefined;
    throw error;
  }
}

function isReady(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && Reflect.get(value, "ready") === true;
  } catch {
    return false;
  }
}
