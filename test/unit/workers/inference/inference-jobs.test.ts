import { describe, expect, it } from "vitest";
import { nextJob } from "../../../../workers/inference/inference-jobs.ts";

const job = (id: number, arrivedAt: number, seconds: number, isFinal = true) => {
  return { id, arrivedAt, samples: seconds * 16_000, isFinal };
};

describe("inference jobs: which goes on", () => {
  it("finals before interim readings, however long these wait", () => {
    expect(nextJob([job(1, 0, 1, false), job(2, 9_000, 20)])?.id).toBe(2);
  });

  it("short ones pass a long one, but not for ever", () => {
    expect(nextJob([job(1, 0, 20), job(2, 1_000, 2)])?.id).toBe(2);
    expect(nextJob([job(1, 0, 20), job(2, 2_500, 2)])?.id).toBe(1);
  });

  it("nothing where there is nothing", () => {
    expect(nextJob([])).toBeUndefined();
  });
});
