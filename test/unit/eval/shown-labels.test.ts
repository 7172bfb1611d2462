import { describe, expect, it } from "vitest";
import { ShownLabels } from "../../eval/shown-labels.ts";

const S = 16000;

/** One utterance of one segment, times in seconds. */
function said(start: number, end: number, cluster: number, speakers?: Proposal) {
  const segment = {
    start: start * S,
    end: end * S,
    words: [],
    confidence: 1,
    cluster,
    overlaps: [],
  };
  const update = speakers && { segments: [], merges: [], ...speakers, finalPass: false };
  return { start: start * S, end: end * S, segments: [segment], speakers: update };
}

interface Proposal {
  segments?: { start: number; cluster: number }[];
  merges?: { from: number; into: number }[];
}

const names = (turns: readonly { speaker: string }[]) => turns.map(({ speaker }) => speaker);

describe("shown labels", () => {
  it("are those of the session: in order of speech, unknown ones UU", () => {
    const labels = new ShownLabels(60 * S);
    labels.utterance(4, said(1, 3, 7));
    labels.utterance(6, said(4, 5, -1));
    labels.utterance(8, said(6, 7, 2));
    const { first, live, final, changed, segments } = labels.finish(9, undefined);
    expect(names(first)).toEqual(["S1", "UU", "S2"]);
    expect([live, final]).toEqual([first, first]);
    expect([changed, segments]).toEqual([0, 3]);
    expect(first[2]).toEqual({ start: 6, end: 7, speaker: "S2" });
  });

  it("are the next one for a new voice while it is spoken, which its final gives", () => {
    const labels = new ShownLabels(60 * S);
    labels.interim(2, 4);
    labels.utterance(4, said(1, 3, 4));
    for (const [at, cluster] of [
      [5, 4],
      [6, 5],
      [7, -1],
    ] as const)
      labels.interim(at, cluster);
    labels.utterance(8, said(5, 7, 4));
    const { interims, first } = labels.finish(9, undefined);
    expect(names(interims)).toEqual(["S1", "S1", "S2", "UU"]);
    expect(names(first)).toEqual(["S1", "S1"]);
  });

  it("tell what changed live and in the final pass, and what only got a name", () => {
    const labels = new ShownLabels(60 * S);
    labels.utterance(2, said(1, 2, 0));
    labels.utterance(4, said(3, 4, -1));
    labels.utterance(6, said(5, 6, 1));
    const moved = [
      { start: 3 * S, cluster: 0 },
      { start: 5 * S, cluster: 0 },
    ];
    labels.utterance(8, said(7, 8, 1, { segments: moved }));
    const merges = [{ from: 1, into: 0 }];
    const result = labels.finish(9, { segments: [], merges, finalPass: true });
    expect(names(result.first)).toEqual(["S1", "UU", "S2", "S2"]);
    expect(names(result.live)).toEqual(["S1", "S1", "S1", "S2"]);
    expect(names(result.final)).toEqual(["S1", "S1", "S1", "S1"]);
    const { changedLive, changedFinal, changed, namedLater } = result;
    expect({ changedLive, changedFinal, changed, namedLater }).toEqual({
      changedLive: 1,
      changedFinal: 1,
      changed: 2,
      namedLater: 1,
    });
  });

  it("notes when each label was there, with the segment's first label before its revision", () => {
    const labels = new ShownLabels(60 * S);
    labels.utterance(2, said(1, 2, 0));
    labels.utterance(4, said(3, 4, 1, { segments: [{ start: 3 * S, cluster: 0 }] }));
    const { history } = labels.finish(5, undefined);
    expect(history.map(({ at, start, speaker }) => [at, start, speaker])).toEqual([
      [2, 1, "S1"],
      [4, 3, "S2"],
      [4, 3, "S1"],
    ]);
  });
});
