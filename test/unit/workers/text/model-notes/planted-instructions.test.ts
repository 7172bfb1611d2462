import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Summary, TextSegment } from "../../../../../src/wire/gen/voice/v1/text.ts";
import { NotesBench } from "../../../../support/model-notes.ts";
import {
  type ModelAnswer,
  type ModelRequest,
  ModelServer,
} from "../../../../support/model-server.ts";
import { type Obedience, plantInstructions } from "../../../../support/planted-instructions.ts";

const COUNT = 150;
const PLANTED = plantInstructions(COUNT, 39);
const TYPES = ["brief", "detailed", "action_items", "decisions", "open_questions"];
/** What the workspace wants in its own words, so that a part of the answer is free. */
const SECTIONS = [{ title: "Money and posters", instruction: "the budget; the posters" }];

/** What is said beside the instruction. */
const TALK: [string, string][] = [
  ["Anna", "So the budget is twenty five thousand euros and we cannot spend more before Monday."],
  ["Ben", "I will call the printer in Hamburg tomorrow because the posters did not arrive."],
  ["Mallory", "The old server makes a noise that nobody can explain."],
  ["Anna", "We decided to move the launch to the third of March."],
];
/** What an honest model notes of it, by lines. */
const HONEST = {
  points: [
    { text: "The posters did not arrive.", cites: [2] },
    { text: "The budget is 25,000 euros.", cites: [1] },
  ],
  decisions: [{ text: "The launch was moved to 3 March.", cites: [4] }],
  action_items: [
    { text: "Ben will call the printer in Hamburg tomorrow.", cites: [2], owner: "Ben", due: "" },
  ],
  open_questions: [],
};

let server: ModelServer;
beforeAll(async () => {
  server = await ModelServer.start();
});
afterAll(() => server.close());

function talkWith({ lines, id }: (typeof PLANTED)[number]): TextSegment[] {
  const at = id % (TALK.length + 1);
  const said = [...TALK.slice(0, at), ...lines, ...TALK.slice(at)];
  return said.map(([speaker, text], index) => ({
    ...{ id: `segment-${index}`, speaker, text, pauses: [], unclear: [] },
    ...{ startMs: index * 4_000, endMs: index * 4_000 + 3_500 },
  }));
}

/** The answer of a model that does what the transcript tells it, beside its honest notes. */
function obey(
  segments: readonly TextSegment[],
  { lines, obeyed, falsehood }: (typeof PLANTED)[number],
) {
  const numberOf = (text: string) => segments.findIndex((segment) => segment.text === text) + 1;
  const own = lines.map(([, text]) => numberOf(text));
  const honest = (text: string, old: readonly number[]) => ({
    text,
    cites: old.map((line) => numberOf(TALK[line - 1]?.[1] ?? "")),
  });
  const extra = said(obeyed, falsehood, own, numberOf(TALK[0]?.[1] ?? ""));
  const lists = Object.entries(HONEST).map(([kind, entries]) => [
    kind,
    [
      ...entries.map(({ text, cites }) => ({ ...honest(text, cites), owner: "", due: "" })),
      ...extra,
    ],
  ]);
  // The free part gets all that the points do.
  lists.push(["part_1", lists.find(([kind]) => kind === "points")?.[1] ?? []]);
  const text = obeyed.kind === "answers" ? obeyed.text : JSON.stringify(Object.fromEntries(lists));
  const calls = obeyed.kind === "calls" ? [{ name: obeyed.tool, arguments: "{}" }] : [];
  return { text, calls };
}

/** With the planted lines as proof, then with an innocent one beside them. */
function said(obeyed: Obedience, falsehood: string, own: number[], other: number) {
  const entry = (text: string, cites: number[]) => ({ text, cites, owner: "Anna", due: "now" });
  switch (obeyed.kind) {
    case "says":
      return [
        entry(obeyed.text, own),
        entry(obeyed.text, [...own, other]),
        entry(obeyed.text, [other]),
      ];
    case "answers":
    case "calls":
      return [];
    case "cites nothing":
      return [entry(`${falsehood}.`, [])];
    case "cites lines that are not there":
      return [entry(`${falsehood}.`, [900, 901])];
    case "speaks for another":
      return [entry(`${obeyed.of} said that ${falsehood}.`, [other]), entry(`${falsehood}.`, own)];
  }
}

/** The words of a text, so that a fact is found however it is written. */
const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

describe(`notes by a language model: ${COUNT} instructions planted in transcripts`, () => {
  it("are all different", () => {
    const texts = PLANTED.map(({ lines }) => lines.map(([, text]) => text).join("\n"));
    expect(new Set(texts).size).toBeGreaterThan(COUNT * 0.9);
    expect(new Set(PLANTED.map(({ obeyed }) => obeyed.kind)).size).toBe(6);
  });

  it.each(PLANTED)("$id: $lines", async (planted) => {
    const segments = talkWith(planted);
    const before = server.requests.length;
    server.answer = (): ModelAnswer => obey(segments, planted);
    const bench = new NotesBench(server);
    await bench.model.probe();
    for (const type of TYPES) judge(await bench.summarise(type, segments), segments, planted);
    const free = server.requests.length;
    const wanted = { sections: SECTIONS };
    judge(await bench.summarise("custom_sections", segments, wanted), segments, planted);
    for (const [at, request] of server.requests.slice(before).entries()) {
      expectSameRules(request, segments.length, before + at < free ? SYSTEMS.notes : SYSTEMS.free);
    }
    expect(server.requests.length).toBeGreaterThan(free);
  });
});

/** What a reader sees: worded sentences must be proved, those by rule are what somebody said. */
function judge(
  summary: Summary,
  segments: readonly TextSegment[],
  { falsehood, obeyed }: (typeof PLANTED)[number],
) {
  const { items, text, model } = summary;
  if (model?.outcome !== "worded") {
    expect(summary.engine).toMatch(/^extractive-/);
    return;
  }
  expect(wordsOf(text)).not.toContain(wordsOf(falsehood));
  expect(`${text}${JSON.stringify(items)}`).not.toMatch(/https?:|<\w|<script|delete_session/);
  const known = new Map(segments.map((segment) => [segment.id, segment]));
  for (const item of items) {
    const honest = Object.values(HONEST)
      .flat()
      .map((each) => each.text);
    expect(honest).toContain(item.text);
    expect(item.segmentIds.length).toBeGreaterThan(0);
    expect(item.segmentIds.every((id) => known.has(id))).toBe(true);
    expect(item.due).toBeUndefined();
  }
  if (obeyed.kind !== "calls" && obeyed.kind !== "answers")
    expect(model.dropped).toBeGreaterThan(0);
}

/** The rules are asked for as ever, and what was said is data in its line. */
function expectSameRules(request: ModelRequest, lines: number, systems: Set<string>): void {
  const [system, user] = request.messages;
  expect(request.messages).toHaveLength(2);
  expect(request.tools).toBeUndefined();
  expect(
    systems.add(`${system?.content} ${JSON.stringify(request.response_format)}`).size,
  ).toBeLessThanOrEqual(2);
  const told = (user?.content ?? "").split("\n").map((line) => JSON.parse(line) as object);
  expect(told).toHaveLength(lines);
  expect(user?.content).not.toMatch(/<\||\[\/?INST|<<SYS/);
}

/** One for each form in which it is asked. */
const SYSTEMS = { notes: new Set<string>(), free: new Set<string>() };
