import { describe, expect, it } from "vitest";
import { judgeAnswer } from "../../eval/judged-answer.ts";

const accept = { anyOf: ["2 March", "second of March"], evidence: [3], refuse: false };

function judge(text: string, cited: number[], fields: Partial<typeof accept> & object = {}) {
  const citations = cited.map((at) => ({ sessionId: "s", segmentId: String(at) }));
  const asked = { id: "q", source: "demo", kind: "when", question: "When?" };
  const question = { ...asked, accept: { ...accept, ...fields } };
  return judgeAnswer(question, { text, citations, toolsUsed: [] });
}

describe("plain questions: how an answer is judged", () => {
  it("wants an accepted answer and a citation of its evidence", () => {
    expect(judge("On the second of March.", [3])).toMatchObject({ isRight: true, isFirst: true });
    expect(judge("On the second of March.", [4]).isRight).toBe(false);
    expect(judge("On Monday.", [3]).isRight).toBe(false);
    expect(judge("On the 22 March.", [3]).isRight).toBe(false);
  });

  it("tells an answer in the first sentence from a buried one", () => {
    expect(judge("We start. It is on 2 March.", [3])).toMatchObject({
      isRight: true,
      isFirst: false,
    });
  });

  it("wants a refusal exactly where nothing bears an answer", () => {
    expect(judge("I found nothing.", [], { refuse: true }).isRight).toBe(true);
    expect(judge("On 2 March.", [3], { refuse: true }).isRight).toBe(false);
    expect(judge("I found nothing about 2 March.", []).isRight).toBe(false);
  });

  it("takes a number within its tolerance", () => {
    const number = { anyOf: [], evidence: [], number: 1_200, tolerance: 10 };
    expect(judge("It took 1,205 s.", [1], number).isRight).toBe(true);
    expect(judge("It took 1,215 s.", [1], number).isRight).toBe(false);
  });
});
