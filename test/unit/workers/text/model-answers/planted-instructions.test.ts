import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FoundPassage, ToolStep } from "../../../../../src/wire/gen/voice/v1/retrieval.ts";
import { toldTo } from "../../../../support/asked-model.ts";
import { NotesBench, SHARE } from "../../../../support/model-notes.ts";
import {
  type ModelAnswer,
  type ModelRequest,
  ModelServer,
} from "../../../../support/model-server.ts";
import { plantInstructions } from "../../../../support/planted-instructions.ts";

const COUNT = 150;
const PLANTED = plantInstructions(COUNT, 39);
type Planted = (typeof PLANTED)[number];

/** By others than those who plant, of whom what comes next is withheld as well. */
const TALK: [string, string][] = [
  ["Olga", "So the budget is twenty five thousand euros and we cannot spend more before Monday."],
  ["Paul", "I will send the printer in Hamburg a letter because the posters did not arrive."],
  ["Rita", "The old server makes a noise that nobody can explain."],
  ["Olga", "We decided to move the launch to the third of March."],
];
const TOOLS = ["full_text_search", "segment_reader"].map((name) => ({
  ...{ name, description: "Finds utterances.", parameters: '{"type": "object"}' },
}));
const PLAN = TOOLS.map(({ name }) => ({ name, arguments: '{"words": "budget"}' }));
const HONEST = "The budget is 25,000 euros.";

let server: ModelServer;
let bench: NotesBench;
beforeAll(async () => {
  server = await ModelServer.start();
  bench = new NotesBench(server);
  await bench.model.probe();
});
afterAll(() => server.close());

/** What a model that obeys does as soon as it has read the instruction; else it follows its plan. */
function obey(request: ModelRequest, planted: Planted): ModelAnswer {
  const lines = toldTo(request).flat();
  const texts = new Set(planted.lines.map(([, text]) => text.slice(0, 20)));
  const seen = lines.filter(({ said }) => said !== undefined && texts.has(said.slice(0, 20)));
  const own = seen.map(({ n }) => n).join(", ");
  if (seen.length > 0) {
    const { obeyed } = planted;
    if (obeyed.kind === "calls")
      return { text: "", calls: [{ name: obeyed.tool, arguments: "{}" }] };
    return { text: `${"text" in obeyed ? obeyed.text : planted.falsehood} [${own}]` };
  }
  const next = PLAN[toldTo(request).length];
  if (next !== undefined) return { text: "", calls: [next] };
  return { text: `${HONEST} [${lines.find(({ said }) => said?.includes("budget"))?.n}]` };
}

function passagesOf(planted: Planted | undefined): FoundPassage[] {
  const at = (planted?.id ?? 0) % (TALK.length + 1);
  const said = [...TALK.slice(0, at), ...(planted?.lines ?? []), ...TALK.slice(at)];
  return said.map(([speaker, text], index) => ({
    ...{ segmentId: `segment-${text}`, session: 1, startMs: index * 4_000 },
    ...{ speaker, isAsker: false, text, unclear: [] },
    before: index > 0 && said[index - 1]?.[0] === speaker ? [said[index - 1]?.[1] ?? ""] : [],
  }));
}

/** Runs the calls of the model, whatever they are, as if each had found everything. */
async function converse(planted: Planted | undefined) {
  const steps: ToolStep[] = [];
  for (;;) {
    const turn = await bench.turns.take(
      {
        ...{ query: "What is the budget?", nowMs: 0, model: SHARE, tools: TOOLS, steps },
        mustAnswer: false,
      },
      new AbortController().signal,
    );
    if (turn.calls.length === 0) return { turn, calls: steps.map(({ call }) => call) };
    for (const call of turn.calls) {
      steps.push({ call, failure: "", sessions: [], passages: passagesOf(planted) });
    }
    if (steps.length > 8) throw new Error("It goes on and on.");
  }
}

describe(`answers by a language model: ${COUNT} instructions planted in transcripts`, () => {
  let clean: Awaited<ReturnType<typeof converse>>;
  /** One: the rules are the same whatever was read. */
  const rules = new Set<string>();

  beforeAll(async () => {
    server.answer = (request) => obey(request, PLANTED[0] as Planted);
    clean = await converse(undefined);
    expect(clean.turn.sentences.map(({ text }) => text)).toEqual([HONEST]);
    expect(clean.calls.map((call) => call?.tool)).toEqual(TOOLS.map(({ name }) => name));
  });

  it.each(PLANTED)(
    "$id: a model that obeys what it reads does as before: $lines",
    async (planted) => {
      server.requests.length = 0;
      server.answer = (request) => obey(request, planted);
      const { turn, calls } = await converse(planted);
      expect(calls).toEqual(clean.calls);
      expect(turn.sentences).toEqual(clean.turn.sentences);
      for (const { messages, tools, tool_choice: choice } of server.requests) {
        rules.add(JSON.stringify([messages.slice(0, 2), tools, choice]));
        for (const { content } of messages) expect(content).not.toMatch(/<\||\[\/?INST|<<SYS/);
      }
      expect(rules.size).toBe(1);
    },
  );

  it.each(PLANTED)(
    "$id: a model that was led astray all the same says nothing of it",
    async (planted) => {
      const { obeyed, falsehood } = planted;
      const text = "text" in obeyed ? obeyed.text : `${falsehood}.`;
      server.answer = (request) => {
        const told = toldTo(request);
        if (told.length === 0) return { text: "", calls: PLAN.slice(0, 1) };
        const every = told.flat().map(({ n }) => n);
        const lines = [...every.map((n) => `${text} [${n}]`), `${text} [${every.join()}]`];
        return { text: lines.join("\n") };
      };
      expect((await converse(planted)).turn.sentences).toEqual([]);
    },
  );
});
