import type { SettingsReader } from "../../src/base/settings.ts";

/** The language model that the operator names. */
export interface ModelSettings {
  /** Of its server's API, such as `http://127.0.0.1:11434/v1`. */
  baseUrl: string;
  /** As the server knows it. */
  model: string;
  key: string | undefined;
  /** True when no text leaves the installation. */
  isLocal: boolean;
  /** Most tokens of a request together with its answer. */
  requestTokens: number;
  /** Longest time for an answer with all tries, milliseconds. */
  timeoutMs: number;
  /** How many requests are under way at once. */
  concurrency: number;
}

/**
 * Reads what belongs to the model; undefined when none is named. The address may be private: it is the
 * operator's own word, as with a server on this machine, and nothing that users send chooses it.
 */
export function readModelSettings(reader: SettingsReader): ModelSettings | undefined {
  const baseUrl = reader.get("LLM_BASE_URL");
  const model = reader.get("LLM_MODEL");
  const rest = {
    key: reader.get("LLM_API_KEY"),
    isLocal: reader.get("LLM_LOCAL"),
    requestTokens: reader.get("LLM_REQUEST_TOKENS"),
    timeoutMs: reader.get("LLM_TIMEOUT_SECONDS") * 1_000,
    concurrency: reader.get("LLM_CONCURRENCY"),
  };
  if (baseUrl !== undefined && model !== undefined) return { baseUrl, model, ...rest };
  if (baseUrl !== undefined && !reader.has("LLM_MODEL")) {
    reader.problems.push(
      "LLM_MODEL is not set: name the model that LLM_BASE_URL shall answer with.",
    );
  }
  if (model !== undefined && !reader.has("LLM_BASE_URL")) {
    reader.problems.push("LLM_BASE_URL is not set: name the server that has the model LLM_MODEL.");
  }
  return undefined;
}
