import { join } from "node:path";
import { Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import type {
  DecoderStep,
  MoonshineNetwork,
} from "../../../../workers/inference/moonshine-network.ts";
import { rescorePhrases } from "../../../../workers/inference/phrase-rescoring.ts";
import { END_TOKEN, Tokenizer } from "../../../../workers/inference/tokenizer.ts";
import { WantedPhrases } from "../../../../workers/inference/wanted-phrases.ts";

const FOLDER = join(import.meta.dirname, "../../../../workers/models/moonshine-tiny-en");
const TOKENIZER = Tokenizer.load(join(FOLDER, "tokenizer.bin"));
const ENCODED = {} as never;
/** Of the decoder's cache: numbers of a token in each head. */
const HEADS = 8;
const HEAD_SIZE = 36;

/**
 * A network that has heard one of these texts: a token that continues one of them has its logit, any
 * other one -20.
 */
function hearing(heard: Readonly<Record<string, number>>) {
  const texts = Object.entries(heard).map(([text, logit]) => {
    return { tokens: [...TOKENIZER.encode(text), END_TOKEN], logit };
  });
  let runs = 0;
  const step = (read: readonly number[], from: number): DecoderStep => {
    runs += 1;
    const width = TOKENIZER.size;
    const logits = new Float32Array((read.length - from) * width).fill(-20);
    for (let row = from; row < read.length; row++) {
      const before = read.slice(1, row + 1);
      for (const { tokens, logit } of texts) {
        if (!before.every((token, at) => token === tokens[at])) continue;
        const at = (row - from) * width + (tokens[before.length] ?? END_TOKEN);
        logits[at] = Math.max(logits[at] ?? 0, logit);
      }
    }
    return { logits, cache: { tensors: { read: remembered(read) }, length: read.length } };
  };
  const network = {
    begin: async (_: unknown, tokens: readonly number[]) => step(tokens, 0),
    next: async (_: unknown, token: number, cache: DecoderStep["cache"]) => {
      const read = cache.tensors.read?.data as Float32Array;
      const before = Array.from({ length: cache.length }, (_, at) => read[at * HEAD_SIZE] ?? 0);
      return step([...before, token], cache.length);
    },
  };
  return { network: network as unknown as MoonshineNetwork, runs: () => runs };
}

/** The first number of each token in the first head is the token. */
function remembered(read: readonly number[]): Tensor {
  const data = new Float32Array(HEADS * read.length * HEAD_SIZE);
  for (const [at, token] of read.entries()) data[at * HEAD_SIZE] = token;
  return new Tensor("float32", data, [1, HEADS, read.length, HEAD_SIZE]);
}

async function rescored(
  text: string,
  phrases: readonly string[],
  heard: Readonly<Record<string, number>>,
): Promise<{ text: string; probabilities: number[]; runs: number }> {
  const { network, runs } = hearing(heard);
  const tokens = text === "" ? [] : TOKENIZER.encode(text);
  const decoding = { tokens, probabilities: tokens.map(() => 0.5), isEndless: false };
  const wanted = new WantedPhrases(phrases, TOKENIZER);
  const steps = rescorePhrases(network, {
    ...{ encoded: ENCODED, decoding, phrases: wanted, tokenizer: TOKENIZER },
  });
  for (;;) {
    const { done, value } = await steps.next();
    if (done !== true) continue;
    const { probabilities } = value;
    return { text: TOKENIZER.decode(value.tokens), probabilities, runs: runs() };
  }
}

describe("rescoring with a vocabulary", () => {
  const HEARD = " Ask Tolliver to come.";
  const TAKEN = " Ask toll over to come.";

  it("rescoring: a phrase that is nearly as likely takes the place of as many words as fits, the rest stays", async () => {
    const { text, probabilities } = await rescored(TAKEN, ["Tolliver"], { [TAKEN]: 5, [HEARD]: 3 });
    expect(text).toBe(HEARD);
    expect(probabilities).toHaveLength(TOKENIZER.encode(HEARD).length);
    expect(probabilities.every((each) => each > 0 && each <= 1)).toBe(true);
  });

  it("rescoring: a phrase that the sound does not bear out is left, after no run more than the text's own", async () => {
    const far = await rescored(TAKEN, ["Tolliver"], { [TAKEN]: 5, [HEARD]: -15 });
    expect([far.text, far.runs]).toEqual([TAKEN, 1]);
    const none = await rescored(TAKEN, ["Wetherby"], { [TAKEN]: 5, [HEARD]: 3 });
    expect([none.text, none.runs]).toEqual([TAKEN, 1]);
  });

  it("rescoring: several phrases of a text are found, and one that stands there already stays", async () => {
    const names = " Ask Tolliver and Kowalski to come.";
    const first = " Ask toll over and Kowalski to come.";
    const heard = { [first]: 5, [names]: 3 };
    expect((await rescored(first, ["Kowalski", "Tolliver"], heard)).text).toBe(names);
  });

  it("rescoring: a text without words, and no phrase but blanks, are left", async () => {
    expect((await rescored("", ["Tolliver"], { [HEARD]: 3 })).runs).toBe(0);
    expect((await rescored(TAKEN, ["  "], { [TAKEN]: 5, [HEARD]: 3 })).text).toBe(TAKEN);
  });

  it("rescoring: many long phrases that are nearly as likely cost no more than the bound", async () => {
    const long = (n: number) => ` Ask toll ${"wet birds see odd green cars ".repeat(6)}${n}`;
    const phrases = Array.from({ length: 30 }, (_, n) => long(n));
    const near = Object.fromEntries(phrases.map((phrase) => [phrase, 0]));
    const { runs } = await rescored(TAKEN, phrases, { [TAKEN]: 5, ...near });
    expect(runs).toBeGreaterThan(100);
    expect(runs).toBeLessThanOrEqual(160);
  });

  it("rescoring: letters that mean something in patterns are letters", () => {
    const wanted = new WantedPhrases(["C++", "a.b", "(x", "-9"], TOKENIZER);
    expect(wanted.in("We use C++ and axb, not a.b, -9 or (x.").count).toBe(4);
    expect(wanted.in("Wetherbys").count).toBe(0);
  });
});
