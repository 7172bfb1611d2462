import { describe, expect, it } from "vitest";
import {
  BLOCK_FRAMES,
  FEATURES,
  FeatureBlocks,
} from "../../../../workers/inference/feature-blocks.ts";

function blockOf(value: number): Parameters<FeatureBlocks["store"]>[1] {
  const features = new Float32Array(BLOCK_FRAMES * FEATURES).fill(value);
  return { features, sum: value / 3, squares: -value };
}

describe("feature blocks", () => {
  it("feature blocks: what one thread stores another finds, and nothing else", () => {
    const memory = FeatureBlocks.allocate();
    const one = new FeatureBlocks(memory);
    one.store(0, blockOf(1));
    one.store(2, blockOf(7));
    const other = new FeatureBlocks(memory);
    expect(other.at(0)).toEqual(blockOf(1));
    expect(other.at(1)).toBeUndefined();
    expect(other.at(2)).toEqual(blockOf(7));
  });

  it("feature blocks: hold twenty seconds, and leave out what is longer", () => {
    const blocks = new FeatureBlocks(FeatureBlocks.allocate());
    for (const block of [26, 27, 1_000]) blocks.store(block, blockOf(block));
    expect(blocks.at(26)).toEqual(blockOf(26));
    expect([blocks.at(27), blocks.at(1_000)]).toEqual([undefined, undefined]);
  });
});
