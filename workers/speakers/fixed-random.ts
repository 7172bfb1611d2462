/** Numbers in 0..1 that are the same ones every time (a linear congruential generator). */
export function fixedRandom(begin: number): () => number {
  let seed = begin;
  return () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return seed / 0x80000000;
  };
}
