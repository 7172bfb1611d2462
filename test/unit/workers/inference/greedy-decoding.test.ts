import { describe, expect, it } from "vitest";
import { type Decoding, decodeGreedily } from "../../../../workers/inference/greedy-decoding.ts";
import type {
  DecoderStep,
  MoonshineNetwork,
} from "../../../../workers/inference/moonshine-network.ts";
import { BEGIN_TOKEN, END_TOKEN } from "../../../../workers/inference/tokenizer.ts";

const WIDTH = 20;

/** After each token the logits of the next one; the text ends where none is told. */
type Likely = Readonly<Record<number, Readonly<Record<number, number>>>>;

/** A network that goes by the newest token alone, and counts its runs. */
function network(likely: Likely): { asked: number[][]; network: MoonshineNetwork } {
  const asked: number[][] = [];
  const run = async (tokens: readonly number[]): Promise<DecoderStep> => {
    asked.push([...tokens]);
    const logits = new Float32Array(tokens.length * WIDTH).fill(-9);
    for (const [row, token] of tokens.entries()) {
      const next = likely[token] ?? { [END_TOKEN]: 9 };
      for (const [to, logit] of Object.entries(next)) logits[row * WIDTH + Number(to)] = logit;
    }
    return { logits, cache: { tensors: {}, length: tokens.length } };
  };
  const made = {
    encode: async () => ({}),
    begin: (_sound: unknown, tokens: readonly number[]) => run(tokens),
    next: (_sound: unknown, token: number) => run([token]),
  };
  return { asked, network: made as unknown as MoonshineNetwork };
}

async function decode(
  likely: Likely,
  given: { agreed?: number[]; draft?: number[] },
): Promise<Decoding & { asked: number[][] }> {
  const { asked, network: made } = network(likely);
  const encoded = await made.encode(new Float32Array(0));
  const { agreed = [], draft = [] } = given;
  const steps = decodeGreedily(made, { encoded, samples: 32_000, agreed, draft });
  for (;;) {
    const { done, value } = await steps.next();
    if (done === true) return { ...value, asked };
  }
}

/** 5, then 6, then 7; in the place of 6 also 8 is nearly as likely, and of 5 9 is hardly likely. */
const TEXT: Likely = {
  [BEGIN_TOKEN]: { 5: 6, 9: 0 },
  5: { 6: 4, 8: 3.5 },
  6: { 7: 5 },
  8: { 7: 5 },
  9: { 6: 4 },
};

describe("greedy decoding", () => {
  it("greedy decoding: takes the likeliest token after token", async () => {
    const { tokens, isEndless, asked } = await decode(TEXT, {});
    expect([tokens, isEndless]).toEqual([[5, 6, 7], false]);
    expect(asked).toEqual([[BEGIN_TOKEN], [5], [6], [7]]);
  });

  it("greedy decoding: a right draft takes one run, a wrong one is left where it errs", async () => {
    const right = await decode(TEXT, { draft: [5, 6, 7] });
    expect([right.tokens, right.asked.length]).toEqual([[5, 6, 7], 1]);
    const wrong = await decode(TEXT, { draft: [5, 8, 7] });
    expect(wrong.tokens).toEqual([5, 6, 7]);
    expect(wrong.asked.slice(1)).toEqual([[6], [7]]);
  });

  it("greedy decoding: agreed tokens stay beside one that is a little likelier, not beside a far likelier one", async () => {
    expect((await decode(TEXT, { agreed: [5, 8] })).tokens).toEqual([5, 8, 7]);
    expect((await decode(TEXT, { agreed: [9, 6, 7] })).tokens).toEqual([5, 6, 7]);
  });

  it("greedy decoding: who would go on for ever is stopped", async () => {
    const { tokens, isEndless } = await decode({ [BEGIN_TOKEN]: { 5: 6 }, 5: { 5: 6 } }, {});
    expect([tokens.length, isEndless]).toEqual([13, true]);
  });
});
