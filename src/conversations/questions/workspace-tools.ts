import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { toAppError } from "../../base/errors.ts";
import { isEnglish } from "../../language/english.ts";
import { type SchemaCheck, SchemaChecks } from "../../rest/schema-check.ts";
import type {
  FoundPassage,
  FoundSession,
  ModelTool,
  ToolCall,
  ToolStep,
} from "../../wire/gen/voice/v1/retrieval.ts";
import {
  type AskableWorkspace,
  recordReads,
  requireAskableWorkspace,
  type WorkspaceQuestionOptions,
} from "./askable.ts";
import { type Asked, answerFromWorkspace, type RuleOptions } from "./by-rule.ts";
import type { ReadPassage, ToolReadsStore } from "./tool-reads-store.ts";

export interface WorkspaceToolOptions extends WorkspaceQuestionOptions, RuleOptions {
  reads: ToolReadsStore;
  /** Does work that holds many passages in memory when it is the tenant's turn. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

const MOST_SESSIONS = 20;
const MOST_FOUND = 12;
const MOST_READ = 20;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const day = (description: string) =>
  Type.Optional(Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description }));
const dates = {
  from: day("First day (UTC), as 2026-01-31"),
  to: day("Last day (UTC), as 2026-01-31"),
};
const conversation = Type.Integer({
  minimum: 1,
  description: "Number of a conversation, as a tool has told it",
});

const listArguments = Type.Object({
  ...dates,
  title: Type.Optional(Type.String({ maxLength: 200, description: "A part of the title" })),
});
const searchArguments = Type.Object({
  words: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "A few words that were said, not a question",
  }),
  speaker: Type.Optional(
    Type.String({ maxLength: 200, description: "Who said them: a name or a label such as S1" }),
  ),
  conversation: Type.Optional(conversation),
  ...dates,
});
const readArguments = Type.Object({
  conversation,
  minute: Type.Optional(
    Type.Number({ minimum: 0, maximum: 100_000, description: "Where to begin; 0 is the start" }),
  ),
});
const retrieveArguments = Type.Object({
  question: Type.String({ minLength: 1, maxLength: 2_000, description: "In plain English" }),
  conversation: Type.Optional(conversation),
});

/** What a tool found: sessions to tell of, and segments to show, by their ids. */
interface Findings {
  sessionIds?: readonly string[];
  segmentIds?: readonly string[];
}

type Run = (given: never, askable: AskableWorkspace) => Promise<Findings>;

interface Tool {
  definition: ModelTool;
  check: SchemaCheck;
  run: Run;
}

/** A call that cannot be carried out; its message is for the model. */
class RefusedCall extends Error {}

const checks = new SchemaChecks();
const CHECKS = new Map<TSchema, SchemaCheck>();

function tool(name: string, description: string, schema: TSchema, run: Run): [string, Tool] {
  const check = CHECKS.get(schema) ?? checks.parameters(schema, "The arguments");
  CHECKS.set(schema, check);
  const definition = { name, description, parameters: JSON.stringify(schema) };
  return [name, { definition, check, run }];
}

/**
 * The tools by which a language model looks for an answer in one workspace, for one question. They read and
 * change nothing. At each call is asked anew which sessions the caller may ask about, and reads that an
 * elevation allows are recorded before anything of them is told. The model knows sessions by numbers.
 */
export class WorkspaceTools {
  /** Names of the tools that were run, in order. */
  readonly used: string[] = [];
  /** True when something was found in a language in which no answer can be checked. */
  leftOut = false;
  readonly #options: WorkspaceToolOptions;
  readonly #workspaceId: string;
  readonly #asked: Asked;
  readonly #tools: ReadonlyMap<string, Tool>;
  /** Ids of the sessions that were told; the first has number 1. */
  readonly #reported: string[] = [];
  /** What was shown, by segment. */
  readonly #shown = new Map<string, ReadPassage>();

  constructor(options: WorkspaceToolOptions, workspaceId: string, asked: Asked) {
    this.#options = options;
    this.#workspaceId = workspaceId;
    this.#asked = asked;
    this.#tools = new Map([
      tool(
        "list_sessions",
        "Lists conversations, the newest first: number, title, when each began, who spoke.",
        listArguments,
        (given: Static<typeof listArguments>, askable) => this.#list(given, askable),
      ),
      tool(
        "full_text_search",
        "Finds utterances in which words were said, in all of their forms.",
        searchArguments,
        (given: Static<typeof searchArguments>, askable) => this.#search(given, askable),
      ),
      tool(
        "segment_reader",
        "Reads what was said in one conversation, from a minute on.",
        readArguments,
        (given: Static<typeof readArguments>, askable) => this.#read(given, askable),
      ),
      tool(
        "hierarchical_retrieval",
        "Finds the utterances that fit a question best, also when they use other words.",
        retrieveArguments,
        (given: Static<typeof retrieveArguments>, askable) => this.#retrieve(given, askable),
      ),
    ]);
  }

  get definitions(): ModelTool[] {
    return [...this.#tools.values()].map(({ definition }) => definition);
  }

  /**
   * Runs a tool. A call that makes no sense comes back with its fault. Rejects when the caller may no longer
   * ask about the workspace, and with `unavailable` when storage is away.
   */
  async run(call: ToolCall): Promise<ToolStep> {
    try {
      const { tool, given } = this.#understand(call);
      const askable = await this.#askable();
      const findings = await tool.run(given as never, askable);
      this.used.push(tool.definition.name);
      return await this.#show(call, findings, askable);
    } catch (error) {
      if (!(error instanceof RefusedCall)) throw toAppError(error);
      return { call, failure: error.message, sessions: [], passages: [] };
    }
  }

  /**
   * The given segments as they are now, of those that were shown: without what was redacted, changed or
   * closed to the caller since. Rejects like `run`.
   */
  async stillReadable(segmentIds: readonly string[]): Promise<Map<string, ReadPassage>> {
    const { sessions } = await this.#askable();
    const ids = sessions.map(({ id }) => id);
    const now = await this.#options.reads.passages(ids, segmentIds);
    const same = now.filter((passage) => {
      const before = this.#shown.get(passage.segmentId);
      return before?.text === passage.text && nameOf(before) === nameOf(passage);
    });
    return new Map(same.map((passage) => [passage.segmentId, passage]));
  }

  #understand({ tool: name, arguments: given }: ToolCall) {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw new RefusedCall("There is no such tool.");
    const value = objectOf(given);
    const fault = value === undefined ? "The arguments are no JSON object." : tool.check(value);
    if (fault !== undefined) throw new RefusedCall(fault);
    return { tool, given: value };
  }

  #askable(): Promise<AskableWorkspace> {
    return requireAskableWorkspace(this.#options, this.#asked.principal, this.#workspaceId);
  }

  async #list(
    { title, ...days }: Static<typeof listArguments>,
    { sessions }: AskableWorkspace,
  ): Promise<Findings> {
    const ids = sessions.map(({ id }) => id);
    const filter = { ...timesOf(days), title };
    const found = await this.#options.reads.sessions(ids, filter, MOST_SESSIONS);
    return { sessionIds: found.map(({ sessionId }) => sessionId) };
  }

  async #search(
    { words, speaker, conversation: number, ...days }: Static<typeof searchArguments>,
    askable: AskableWorkspace,
  ): Promise<Findings> {
    const ids = this.#within(askable, number).sessions.map(({ id }) => id);
    const search = async (text: string) => {
      const filter = { text, speaker, ...timesOf(days) };
      const page = { limit: MOST_FOUND };
      return this.#options.workspaceSessions.search(ids, filter, page);
    };
    const all = await search(words);
    // Models give many words, and hardly anybody has said all of them at once.
    const any = words.match(/[\p{L}\p{N}]+/gu) ?? [];
    const found = all.length > 0 || any.length < 2 ? all : await search(any.join(" or "));
    return { segmentIds: found.map(({ segmentId }) => segmentId) };
  }

  async #read(
    { conversation: number, minute = 0 }: Static<typeof readArguments>,
    askable: AskableWorkspace,
  ): Promise<Findings> {
    const [session] = this.#within(askable, number).sessions;
    if (session === undefined) throw new RefusedCall("There is no such conversation.");
    const from = Math.floor(minute * MINUTE_MS);
    return { segmentIds: await this.#options.reads.segmentsFrom(session.id, from, MOST_READ) };
  }

  async #retrieve(
    { question, conversation: number }: Static<typeof retrieveArguments>,
    askable: AskableWorkspace,
  ): Promise<Findings> {
    const within = this.#within(askable, number);
    const asked = { ...this.#asked, query: question };
    const { citations } = await this.#options.inTurn(() =>
      answerFromWorkspace(this.#options, within, asked),
    );
    const ids = citations.map(({ segmentId }) => segmentId);
    return { segmentIds: [...new Set(ids)].slice(0, MOST_FOUND) };
  }

  /** All sessions, or the one that the model names. */
  #within(askable: AskableWorkspace, number: number | undefined): AskableWorkspace {
    if (number === undefined) return askable;
    const id = this.#reported[number - 1];
    const sessions = askable.sessions.filter((session) => session.id === id);
    if (sessions.length === 0) throw new RefusedCall("There is no conversation with this number.");
    return { ...askable, sessions };
  }

  async #show(
    call: ToolCall,
    { sessionIds = [], segmentIds = [] }: Findings,
    askable: AskableWorkspace,
  ): Promise<ToolStep> {
    const { reads } = this.#options;
    const ids = askable.sessions.map(({ id }) => id);
    const read = await reads.passages(ids, segmentIds);
    const passages = read.filter(({ language }) => isEnglish(language));
    this.leftOut ||= passages.length < read.length;
    const known = new Set(this.#reported);
    const news = new Set(passages.map(({ sessionId }) => sessionId));
    const tell = [...new Set([...sessionIds, ...[...news].filter((id) => !known.has(id))])];
    // Titles are content too.
    await recordReads(this.#options, askable, [...new Set([...tell, ...news])]);
    const sessions = await reads.sessions(tell, {}, tell.length);
    for (const passage of passages) this.#shown.set(passage.segmentId, passage);
    return {
      ...{ call, failure: "" },
      sessions: sessions.map(({ sessionId, title, startedAtMs, speakers }): FoundSession => {
        return { number: this.#numberOf(sessionId), title, startedAtMs, speakers: [...speakers] };
      }),
      passages: passages.map((passage) => this.#toFound(passage)),
    };
  }

  #toFound(passage: ReadPassage): FoundPassage {
    const { segmentId, sessionId, startMs, text, unclear, claimedUserId } = passage;
    return {
      ...{
        segmentId,
        startMs,
        text,
        unclear,
        before: [...passage.before],
        speaker: nameOf(passage),
      },
      session: this.#numberOf(sessionId),
      isAsker: claimedUserId === this.#asked.principal.id,
    };
  }

  #numberOf(sessionId: string): number {
    const at = this.#reported.indexOf(sessionId);
    return at < 0 ? this.#reported.push(sessionId) : at + 1;
  }
}

function nameOf({ speakerName, label }: ReadPassage): string {
  return speakerName === "" ? label : speakerName;
}

/** The arguments without empty ones, which models give for what they leave out; undefined for no object. */
function objectOf(text: string): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text === "" ? "{}" : text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const given = Object.entries(value).filter(([, each]) => each !== "" && each !== null);
  return Object.fromEntries(given);
}

function timesOf({ from, to }: { from?: string; to?: string }) {
  const end = timeOf(to);
  return { from: timeOf(from), to: end === undefined ? undefined : end + DAY_MS };
}

function timeOf(date: string | undefined): number | undefined {
  if (date === undefined) return undefined;
  const time = Date.parse(date);
  if (Number.isNaN(time)) throw new RefusedCall(`${date} is no day.`);
  return time;
}
