import { AppError, shown, toAppError } from "../base/errors.ts";
import { type SchemaCheck, SchemaChecks } from "../rest/schema-check.ts";
import { ask } from "./ask-tool.ts";
import { findSessions, searchTranscripts } from "./find-tools.ts";
import { listActionItems, listDecisions } from "./note-tools.ts";
import { readTranscript } from "./read-tool.ts";
import type { Tool, ToolCaller } from "./tool.ts";

const TOOLS: readonly Tool[] = [
  ...[findSessions, searchTranscripts, readTranscript],
  ...[ask, listActionItems, listDecisions],
];

const checks = new SchemaChecks();

const BY_NAME = new Map(
  TOOLS.map((tool): [string, { tool: Tool; check: SchemaCheck }] => [
    tool.name,
    { tool, check: checks.parameters(tool.input, "The arguments") },
  ]),
);

/** The tools as a client is told of them. All of them read, and nothing else. */
export const TOOL_LIST = TOOLS.map(({ name, title, description, input, output }) => ({
  ...{ name, title, description },
  inputSchema: { ...input, additionalProperties: false },
  outputSchema: output,
  annotations: { title, readOnlyHint: true, idempotentHint: true, openWorldHint: false },
}));

/** What a call of a tool gave, in the words of the protocol. */
interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
  /** Of an error: its code, as REST has it in `X-Error-Code`. */
  _meta?: { error_code: string };
}

/**
 * Calls a tool. Undefined for a tool that there is not. What goes wrong, wrong arguments too, is told in the
 * result as a sentence; `onError` gets it as well.
 */
export async function callTool(
  name: string,
  given: Readonly<Record<string, unknown>>,
  caller: ToolCaller,
  onError: (error: AppError) => void,
): Promise<ToolResult | undefined> {
  const known = BY_NAME.get(name);
  if (known === undefined) return undefined;
  try {
    const { found, lines } = await known.tool.run(checked(known, given), caller);
    return { content: textOf(lines.join("\n")), structuredContent: found };
  } catch (thrown) {
    const error = toAppError(thrown);
    onError(error);
    return { content: textOf(error.message), isError: true, _meta: { error_code: error.code } };
  }
}

function textOf(text: string): ToolResult["content"] {
  return [{ type: "text", text }];
}

/** The arguments, without those that are null, as models give for what they leave out. */
function checked(
  { tool, check }: { tool: Tool; check: SchemaCheck },
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const value = Object.fromEntries(Object.entries(given).filter(([, each]) => each !== null));
  const known = Object.keys(tool.input.properties);
  // A misspelt filter would find more than was asked for.
  const odd = Object.keys(value).find((name) => !known.includes(name));
  if (odd !== undefined) {
    throw new AppError(
      "invalid_parameter",
      `"${shown(odd)}" is not known here; ${tool.name} takes ${known.join(", ")}.`,
    );
  }
  const problem = check(value);
  if (problem !== undefined) throw new AppError("invalid_parameter", problem);
  return value;
}
