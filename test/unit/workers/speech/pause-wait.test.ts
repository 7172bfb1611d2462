import { describe, expect, it } from "vitest";
import { Endpointer, type PauseState, PauseWait } from "../../../../workers/speech/endpointer.ts";

/** Speech of 1.6 s with pauses of so many frames in between; the ends, as frames of silence. */
function ends(endpointer: Endpointer, pause: number, turns: number): number[] {
  const found: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    for (let frame = 0; frame < 50; frame++) endpointer.push(0.9);
    for (let frame = 1; frame <= pause; frame++) {
      if (endpointer.push(0.1) === "end") found.push(frame);
    }
  }
  return found;
}

function wait(endpointer: Endpointer): number {
  return endpointer.state().wait / 1_000;
}

describe("pause wait", () => {
  it("one who speaks with hardly a pause is answered sooner", () => {
    const endpointer = new Endpointer();
    expect(ends(endpointer, 40, 1)).toEqual([12]);
    for (let turn = 0; turn < 8; turn++) ends(endpointer, 3, 8);
    expect(wait(endpointer)).toBeLessThan(400);
  });

  it("pauses that nearly end an utterance, or just did, make it longer", () => {
    const near = new Endpointer();
    expect(ends(near, 11, 4)).toEqual([]);
    expect(wait(near)).toBeGreaterThan(400);
    const torn = new Endpointer();
    const found = ends(torn, 16, 14);
    expect(found.length).toBeLessThan(14);
    expect(wait(torn)).toBeGreaterThan(430);
  });

  it("it stays between 370 and 560 ms", () => {
    const fluent = new Endpointer();
    ends(fluent, 1, 100);
    expect(wait(fluent)).toBe(370);
    const hesitant = new Endpointer();
    for (let pause = 9; pause <= 20; pause++) ends(hesitant, pause, 6);
    expect(wait(hesitant)).toBeLessThanOrEqual(560);
  });

  it("a reading that goes on from a state waits equally long", () => {
    const pauses = [11, 15, 40, 12, 16, 19, 6, 14, 35, 15];
    const whole = new Endpointer();
    const states: PauseState[] = [];
    const heard = pauses.map((pause) => {
      const found = ends(whole, pause, 1);
      states.push(JSON.parse(JSON.stringify(whole.state())));
      return found;
    });
    for (const [index, state] of states.entries()) {
      if (heard[index]?.length === 0) continue;
      const rest = new Endpointer(state);
      expect(pauses.slice(index + 1).map((pause) => ends(rest, pause, 1))).toEqual(
        heard.slice(index + 1),
      );
      expect(rest.state()).toEqual(states.at(-1));
    }
  });

  it("missing audio is no pause", () => {
    const wait = new PauseWait();
    wait.end(12);
    wait.skip();
    wait.silence();
    wait.begin(3);
    expect(wait.state()).toEqual(new PauseWait().state());
  });
});
