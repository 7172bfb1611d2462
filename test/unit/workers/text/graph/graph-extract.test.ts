import { describe, expect, it } from "vitest";
import { LINES } from "../../../../../deploy/demo/conversation-lines.ts";
import type {
  ExtractEntitiesResponse,
  GraphSegment,
} from "../../../../../src/wire/gen/voice/v1/graph.ts";
import { extractGraph } from "../../../../../workers/text/graph/extract.ts";
import { finish } from "../../../../support/finish-steps.ts";
import { heardText } from "../../../../support/heard-text.ts";

const LABELS: Readonly<Record<string, string>> = { Anna: "S1", Ben: "S2", Alan: "S3" };

/** Segments of words that take a quarter of a second each, with a second between them; `[words?]` are unclear. */
function spoken(turns: readonly (readonly [label: string, text: string])[]): GraphSegment[] {
  let at = 0;
  return turns.map(([label, marked]) => {
    const start = at;
    const { text, unclear } = heardText(marked);
    const words = text.split(" ").map((word, place) => {
      at += 4_000;
      return { text: word, start: at - 4_000, end: at, unclear: unclear.includes(place) };
    });
    const end = at;
    at += 16_000;
    return { label, start, end, words };
  });
}

function extract(
  turns: readonly (readonly [string, string])[],
  names: Readonly<Record<string, string>> = {},
  language = "en",
) {
  const labels = [...new Set(turns.map(([label]) => label))];
  const speakers = labels.map((label) => ({ label, name: names[label] ?? "" }));
  const segments = spoken(turns);
  return finish(extractGraph({ sessionId: "session", language, segments, speakers }));
}

function find(graph: ExtractEntitiesResponse, name: string) {
  const index = graph.entities.findIndex((entity) => entity.name === name);
  const entity = graph.entities[index];
  const mentions = graph.mentions.filter((mention) => mention.entity === index);
  return { entity, mentions };
}

function actions(graph: ExtractEntitiesResponse): string[] {
  const nameOf = (index: number) => graph.entities[index]?.name;
  return graph.links
    .filter(({ kind }) => kind === "action")
    .map(({ source, label, target }) => `${nameOf(source)} ${label} ${nameOf(target)}`);
}

/** As the recogniser writes it: no capitals, no punctuation. */
const CONVERSATION = LINES.map(
  ({ speaker, sentences }) =>
    [LABELS[speaker] ?? "UU", sentences.join(" ").toLowerCase().replace(/[.,?]/g, "")] as const,
);

describe("graph: extraction", () => {
  it("finds the speakers alone in other languages than English", () => {
    const turns = [
      ["S1", "Das Team hat den Bericht in Berlin am Montag fertig"],
      ["S2", "Den Bericht lese ich den ganzen Montag"],
    ] as const;
    const { entities, mentions, links } = extract(turns, { S1: "Anna" }, "de-AT");
    expect(entities.map(({ type, name }) => [type, name])).toEqual([
      ["speaker", "Anna"],
      ["speaker", "S2"],
    ]);
    expect(mentions.map(({ spoke }) => spoke)).toEqual([true, true]);
    expect(links.filter(({ kind }) => kind !== "co_occurrence")).toEqual([]);
  });

  it("finds places, sums, dates and topics in plain recogniser output", () => {
    const graph = extract(CONVERSATION);
    const typeOf = (name: string) => find(graph, name).entity?.type;
    expect(typeOf("new york")).toBe("place");
    expect(typeOf("one hundred dollars")).toBe("money");
    expect(typeOf("first week of march")).toBe("date");
    expect(typeOf("wednesday morning")).toBe("date");
    expect(typeOf("price")).toBe("topic");
    expect(find(graph, "report").mentions).toHaveLength(2);
    expect(graph.entities.filter(({ type }) => type === "speaker")).toHaveLength(3);
    const names = graph.entities.map(({ name }) => name);
    for (const noise of ["we", "our", "everyone", "time", "you", "i"]) {
      expect(names).not.toContain(noise);
    }
  });

  it("says who does what, without blaming the wrong subject", () => {
    expect(actions(extract(CONVERSATION))).toEqual(
      expect.arrayContaining([
        "team complete work",
        "S2 write to customers",
        "S3 talk to new york",
      ]),
    );
    expect(actions(extract([["S1", "on friday we did not find any problems"]]))).toEqual([]);
    expect(actions(extract([["S1", "Anna did not call Google."]]))).toEqual([
      "Anna not call Google",
    ]);
  });

  it("gives each mention the times of its words", () => {
    const graph = extract([["S1", "i live in new york today"]]);
    const { mentions } = find(graph, "new york");
    expect(mentions).toMatchObject([{ segment: 0, start: 12_000, end: 20_000, spoke: false }]);
  });

  it("finds the words behind contractions and pauses", () => {
    const graph = extract([
      ["S1", "well, I'll ask the team, you know"],
      ["S1", "we're in Berlin"],
    ]);
    expect(actions(graph)).toEqual(["S1 ask team"]);
    const { mentions } = find(graph, "Berlin");
    expect(mentions).toMatchObject([{ segment: 1, start: 24_000 + 16_000 + 8_000 + 4_000 }]);
  });

  it("ties what is said together, and speakers to what they talk about", () => {
    const graph = extract([["S1", "the price in berlin"]]);
    const kinds = graph.links.map(({ kind, weight }) => [kind, weight]);
    expect(kinds).toEqual([
      ["talks_about", 1],
      ["talks_about", 1],
      ["co_occurrence", 1],
    ]);
    const apart = extract([
      ["S1", "the price"],
      ["S2", "the report"],
    ]);
    expect(apart.links.filter(({ kind }) => kind === "co_occurrence")).toMatchObject([
      { weight: 0.5, segment: 1 },
    ]);
  });

  it("is empty for silence, and the same for the same words", () => {
    const silence = { sessionId: "s", language: "en", segments: [], speakers: [] };
    expect(finish(extractGraph(silence))).toEqual({ entities: [], mentions: [], links: [] });
    expect(extract([["UU", "the price"]]).entities.map(({ type }) => type)).toEqual(["topic"]);
    expect(extract(CONVERSATION)).toEqual(extract(CONVERSATION));
  });

  it("keeps what matters most within its limits", () => {
    const segments = spoken(CONVERSATION);
    const graph = finish(
      extractGraph(
        { sessionId: "s", language: "", segments, speakers: [] },
        { entities: 5, links: 3 },
      ),
    );
    expect(graph.entities).toHaveLength(5);
    expect(graph.links.length).toBeLessThanOrEqual(3);
    expect(graph.entities[0]?.name).toBe("report");
    for (const { entity } of graph.mentions) expect(entity).toBeLessThan(5);
  });
});

describe("graph: one thing, one entity", () => {
  it("joins spellings of a person, as long as it is clear who is meant", () => {
    const clear = extract([
      ["S1", "Sarah Smith called. Dr. Smith said yes. Sarah laughed and Sarah left."],
    ]);
    const { entity, mentions } = find(clear, "Sarah Smith");
    expect(mentions).toHaveLength(4);
    expect(entity?.aliases).toEqual(expect.arrayContaining(["Sarah"]));
    const unclear = extract([["S1", "Sarah Smith met John Smith. Mr. Smith called."]]);
    expect(find(unclear, "Sarah Smith").mentions).toHaveLength(1);
    expect(find(unclear, "John Smith").mentions).toHaveLength(1);
  });

  it("takes a speaker's name for the speaker", () => {
    const graph = extract(
      [
        ["S1", "i will write the report"],
        ["S2", "ben will write the report and anna reads it"],
      ],
      { S1: "Ben Burns", S2: "Anna" },
    );
    const ben = find(graph, "Ben Burns");
    expect(ben.entity).toMatchObject({ type: "speaker", labels: ["S1"], sessionOnly: false });
    expect(ben.mentions.map(({ spoke }) => spoke)).toEqual([true, false]);
    expect(find(graph, "Anna").mentions.map(({ spoke }) => spoke)).toEqual([true, false]);
    expect(actions(graph)).toContain("Ben Burns write report");
  });

  it("joins numbers of a noun, forms of a company and what belongs to somebody", () => {
    const graph = extract([
      ["S1", "the battery and the batteries and the battery's price"],
      ["S1", "Acme Corp. sells it. Acme sells it."],
    ]);
    expect(graph.entities.filter(({ key }) => key === "battery")).toHaveLength(1);
    expect(graph.entities.filter(({ key }) => key.startsWith("acme"))).toHaveLength(1);
  });

  it("keeps voices without a name, and days without a date, to their session", () => {
    const graph = extract([["S1", "we meet tomorrow or on the second of march"]]);
    expect(find(graph, "S1").entity?.sessionOnly).toBe(true);
    expect(find(graph, "tomorrow").entity?.sessionOnly).toBe(true);
    expect(find(graph, "second of march").entity?.sessionOnly).toBe(false);
  });
});

describe("graph: unclear words", () => {
  it("name nothing and tie nothing together", () => {
    const graph = extract([
      ["S1", "[tunisia?] the manager called [acme?] about the garden in [chicago?] again"],
      ["S2", "[boston?]"],
    ]);
    const names = graph.entities.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["S1", "manager", "garden"]));
    for (const unclear of ["tunisia", "acme", "chicago", "boston"]) {
      expect(names.join(" ")).not.toContain(unclear);
    }
    expect(actions(graph)).toEqual([]);
    const unclearVerb = [["S1", "the manager [signed?] the contract"]] as const;
    expect(actions(extract(unclearVerb))).toEqual([]);
    expect(actions(extract([["S1", "the manager signed the contract"]]))).toHaveLength(1);
    expect(actions(extract([["S1", "[i?] signed the contract"]]))).toEqual([]);
  });

  it("leave the places of the words around them as they are", () => {
    const turns = [
      ["S1", "[well then?] the manager is in [new?] boston"],
      ["S2", "[we?] saw the contract"],
    ] as const;
    const graph = extract(turns);
    const [manager] = find(graph, "manager").mentions;
    expect(manager).toMatchObject({ segment: 0, start: 3 * 4_000, end: 4 * 4_000 });
    const [boston] = find(graph, "boston").mentions;
    expect(boston).toMatchObject({ segment: 0, start: 7 * 4_000, end: 8 * 4_000 });
    const second = 8 * 4_000 + 16_000;
    const [contract] = find(graph, "contract").mentions;
    expect(contract).toMatchObject({ segment: 1, start: second + 3 * 4_000 });
  });

  it("make no name with the clear words on their other side", () => {
    const graph = extract([["S1", "the price of the remote [and?] control was discussed"]]);
    expect(graph.entities.map(({ name }) => name)).not.toContain("remote control");
  });
});
