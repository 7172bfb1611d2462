/** Natural logarithm of the softmax of one of a row's logits. */
export function logProbability(logits: Float32Array, token: number): number {
  const chosen = logits[token] as number;
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += Math.exp((logits[i] as number) - chosen);
  return -Math.log(sum);
}
