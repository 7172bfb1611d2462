import { describe, expect, it } from "vitest";
import { HealthWatch } from "../../../deploy/supervisor/health-watch.ts";

/** Answers in turn; the last one is repeated. Resolves when the watch calls the part sick. */
async function asksUntilSick(answers: (boolean | Error)[]): Promise<number> {
  let asked = 0;
  await new Promise<void>((sick) => {
    const ask = async () => {
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      if (answer instanceof Error) throw answer;
      return answer === true;
    };
    new HealthWatch(ask, sick, 1);
  });
  return asked;
}

describe("health watch", () => {
  it("watch: four refusals in a row make a part sick", async () => {
    expect(await asksUntilSick([true, true, false])).toBe(6);
  });

  it("watch: an error counts as a refusal, a good answer starts the count anew", async () => {
    expect(await asksUntilSick([new Error("away"), false, false, true, false])).toBe(8);
  });
});
