import { describe, expect, it } from "vitest";
import { answerQuestion } from "../../../../../workers/text/retrieval/answer.ts";
import { finish } from "../../../../support/finish-steps.ts";
import { spokenConversation } from "../../../../support/spoken-conversation.ts";

function ask(query: string, language: string, lines: readonly string[]) {
  const turns = lines.map((text, at) => ["S1", at * 10, text] as const);
  const conversations = [spokenConversation(turns, {}, { language })];
  const answer = finish(answerQuestion({ query, nowMs: 0, across: false, conversations }));
  return { ...answer, cited: answer.citations.map(({ segmentId }) => segmentId.slice(8)).join() };
}

/** A word of the question is another form of the one that was said. */
describe("questions in other languages: found by stem, answered in the language of the transcript", () => {
  it.each([
    ["da", "Hvem skriver rapporter?", "vi skriver rapporten i morgen", /^Taler 1 sagde ved 00:10:/],
    ["de", "Wo sind die Berichte?", "der Bericht liegt im Büro", /^Sprecher 1 sagte bei 00:10:/],
    ["es", "¿Dónde están las tiendas?", "la tienda está en la plaza", /^Hablante 1 dijo en 00:10:/],
    ["fi", "Missä on kirja?", "kirjat ovat pöydällä", /^Puhuja 1 sanoi kohdassa 00:10:/],
    ["fr", "Quels sont les rapports ?", "le rapport arrive lundi", /^Locuteur 1 a dit à 00:10:/],
    ["hu", "Hol vannak a házak?", "a ház a folyónál áll", /^Beszélő 1 \(00:10\):/],
    ["it", "Dove sono i libri?", "il libro costa dieci euro", /^Parlante 1 ha detto a 00:10:/],
    ["nl", "Waar zijn de boeken?", "het boek ligt op tafel", /^Spreker 1 zei op 00:10:/],
    ["no", "Hvor er bilene?", "bilen står i garasjen", /^Taler 1 sa ved 00:10:/],
    ["pt", "Onde estão os livros?", "o livro custa dez euros", /^Falante 1 disse em 00:10:/],
    ["ro", "Unde este casa?", "casele sunt pe deal", /^Vorbitor 1 a spus la 00:10:/],
    ["ru", "Где книга?", "книги лежат на столе", /^Голос 1 \(00:10\):/],
    ["sv", "Var är bilarna?", "bilen står i garaget", /^Talare 1 sade vid 00:10:/],
    ["tr", "Kitap nerede?", "kitaplar masanın üstünde", /^Konuşmacı 1 \(00:10\):/],
  ])("%s: %s", (language, query, line, text) => {
    const answer = ask(query, language, ["xyz xyz", line, "qrs qrs"]);
    expect(answer.text).toMatch(text);
    expect(answer.cited).toBe("1");
    expect(answer.toolsUsed).not.toContain("fuzzy_match");
  });

  it("refuses in the language of the transcript, and says what is English only", () => {
    expect(ask("Wer kauft Elefanten?", "de-AT", ["wir schreiben den Bericht"]).text).toBe(
      "Dazu habe ich in diesem Gespräch nichts gefunden. Questions are understood in English only; of what was said in de-AT, the question's words were searched for by their stems.",
    );
    expect(ask("Kdo kupuje slony?", "cs", ["píšeme zprávu"]).text).toBe(
      "I found nothing about that in this conversation. Questions are understood in English only; of what was said in cs, the question's words were searched for as they are.",
    );
  });

  it("searches each conversation with the dictionary of its own language", () => {
    const conversations = [
      spokenConversation([["S1", 0, "we open the shops"]]),
      spokenConversation([["S1", 0, "ich schreibe die Berichte"]], {}, { language: "de" }),
    ].map((each, at) => ({ ...each, sessionId: `session-${at}` }));
    const found = (query: string) =>
      finish(answerQuestion({ query, nowMs: 0, across: true, conversations })).citations;
    expect(found("Bericht")).toEqual([{ sessionId: "session-1", segmentId: "segment-0" }]);
    expect(found("shop")).toEqual([{ sessionId: "session-0", segmentId: "segment-0" }]);
  });
});
