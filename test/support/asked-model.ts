import { silentLog } from "../../src/base/log.ts";
import { LanguageModel } from "../../workers/language-model/language-model.ts";
import type { ModelSettings } from "../../workers/language-model/model-settings.ts";
import type { ModelAnswer, ModelRequest, ModelServer } from "./model-server.ts";

/** Of a model that belongs to the installation. */
export function modelSettings(server: Pick<ModelServer, "url">): ModelSettings {
  return {
    ...{ baseUrl: server.url, model: "small", key: undefined, isLocal: true },
    ...{ requestTokens: 8_000, timeoutMs: 60_000, concurrency: 2 },
  };
}

/** A language model over a test server, whose abilities are known. */
export async function askedModel(
  server: Pick<ModelServer, "url">,
  settings: Partial<ModelSettings> = {},
): Promise<LanguageModel> {
  const model = new LanguageModel({
    settings: { ...modelSettings(server), ...settings },
    log: silentLog,
    waits: { firstMs: 10 },
  });
  await model.probe();
  return model;
}

/** A line of a tool's result, as the model reads it. */
export interface ToldLine {
  n?: number;
  conversation?: number;
  speaker?: string;
  said?: string;
  withheld?: string;
  title?: string;
  failure?: string;
}

/** What the tools have told the model so far, one list for each call. */
export function toldTo({ messages }: ModelRequest): ToldLine[][] {
  return messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => content.split("\n").map((line) => JSON.parse(line) as ToldLine));
}

export function callOf(name: string, given: object | string = {}): ModelAnswer {
  const text = typeof given === "string" ? given : JSON.stringify(given);
  return { text: "", calls: [{ name, arguments: text }], ending: "tool_calls" };
}

/** The line of what was said in these words; 900, which there is none of, when it was not told. */
export function lineOf(request: ModelRequest, words: RegExp): number {
  const lines = toldTo(request).flat();
  return lines.find(({ said }) => said !== undefined && words.test(said))?.n ?? 900;
}
