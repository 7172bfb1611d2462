import { describe, expect, it } from "vitest";
import { Endpointer } from "../../../../workers/speech/endpointer.ts";
import { type PauseState, PauseWait } from "../../../../workers/speech/pause-wait.ts";

const LOUD = 1e6;

/** Speech of 1.5 s with pauses of so many frames in between; the ends, as frames of silence. */
function ends(endpointer: Endpointer, pause: number, turns: number): number[] {
  const found: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    for (let frame = 0; frame < 150; frame++) endpointer.push(true, LOUD);
    for (let frame = 1; frame <= pause; frame++) {
      if (endpointer.push(false, LOUD) === "end") found.push(frame);
    }
  }
  return found;
}

function wait(endpointer: Endpointer): number {
  return endpointer.state().wait / 1_000;
}

describe("pause wait", () => {
  it("pause wait: one who speaks with hardly a pause is answered sooner", () => {
    const endpointer = new Endpointer();
    const first = ends(endpointer, 100, 1);
    ends(endpointer, 8, 15);
    expect(wait(endpointer)).toBeLessThan(220);
    expect(first).toEqual([23]);
    expect(ends(endpointer, 100, 1)[0]).toBeLessThan(22);
  });

  it("pause wait: pauses that nearly end an utterance, or just did, make it longer", () => {
    const near = new Endpointer();
    expect(ends(near, 22, 4)).toEqual([]);
    expect(wait(near)).toBeGreaterThan(270);
    const torn = new Endpointer();
    const found = ends(torn, 33, 12);
    expect(found[0]).toBe(23);
    expect(found.length).toBeLessThan(9);
    expect(wait(torn)).toBeGreaterThan(310);
  });

  it("pause wait: it stays between 200 and 400 ms, and long pauses teach nothing", () => {
    const fluent = new Endpointer();
    ends(fluent, 1, 100);
    expect(wait(fluent)).toBe(200);
    const hesitant = new Endpointer();
    for (let pause = 20; pause <= 60; pause++) ends(hesitant, pause, 6);
    expect(wait(hesitant)).toBeLessThanOrEqual(400);
    const polite = new Endpointer();
    ends(polite, 90, 10);
    expect(wait(polite)).toBeLessThan(250);
  });

  it("pause wait: a reading that goes on from a state waits equally long", () => {
    const pauses = [22, 30, 90, 24, 35, 41, 12, 28, 70, 31];
    const whole = new Endpointer();
    const states: PauseState[] = [];
    const heard = pauses.flatMap((pause) => {
      const found = ends(whole, pause, 1);
      states.push(JSON.parse(JSON.stringify(whole.state())));
      return [found];
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

  it("pause wait: missing audio is no pause", () => {
    const wait = new PauseWait();
    wait.end(25);
    wait.skip();
    wait.silence();
    wait.begin(10);
    expect(wait.state()).toEqual(new PauseWait().state());
  });
});
