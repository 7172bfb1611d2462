import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { QuestionFixture } from "../support/question-fixture.ts";

describe("queries: in other languages", () => {
  let queries: QuestionFixture;
  let owner: UserPrincipal;

  beforeAll(async () => {
    queries = await QuestionFixture.open();
    await queries.work();
    owner = await queries.fixture.user("participant", "Olga Owner");
  });
  afterAll(() => queries?.close());
  beforeEach(() => queries.heard());

  it.each([
    {
      language: "de-DE",
      lines: ["guten Morgen", "der Bericht liegt im Büro"],
      query: "Wo sind die Berichte?",
      answer: "Sprecher 1 sagte bei 00:05: “Der Bericht liegt im Büro.”",
      absent: "Wo sind die Elefanten?",
      refusal: "Dazu habe ich in diesem Gespräch nichts gefunden.",
    },
    {
      language: "es",
      lines: ["buenos días", "la tienda está en la plaza"],
      query: "¿Dónde están las tiendas?",
      answer: "Hablante 1 dijo en 00:05: “La tienda está en la plaza.”",
      absent: "¿Dónde están los elefantes?",
      refusal: "No encontré nada sobre eso en esta conversación.",
    },
  ])("$language: found by stem, answered in its language", async (asked) => {
    const { language, lines, query, answer, absent, refusal } = asked;
    const workspaceId = await queries.fixture.workspace(owner.id);
    const spoken = lines.map((text) => ["S1", text] as const);
    const { sessionId, segmentIds } = await queries.tell(workspaceId, owner, spoken);
    await queries.fixture.sql("update sessions set language = $2 where id = $1", [
      sessionId,
      language,
    ]);
    const found = await queries.askSession(owner, sessionId, query);
    expect(found.answer).toBe(answer);
    expect(found.citations.map(({ segment_id }) => segment_id)).toEqual([segmentIds[1]]);
    const across = await queries.askWorkspace(owner, workspaceId, query);
    expect(across.citations.map(({ segment_id }) => segment_id)).toEqual([segmentIds[1]]);
    const refused = await queries.askSession(owner, sessionId, absent);
    expect(refused).toMatchObject({ citations: [] });
    expect(refused.answer).toContain(refusal);
    expect(refused.answer).toContain("Questions are understood in English only");
  });
});
