import { expect, it } from "vitest";
import { FinalTimes } from "../../../src/recognition/final-times.ts";

it("finals: how long they took is told by bucket, so that a percentile can be watched", () => {
  const times = new FinalTimes();
  for (const total of [40_000, 400_000, 400_000, 60_000_000]) times.add({ total, engine: 0 });
  const lines = times.times.lines("voice_final_seconds");
  expect(lines).toContain('voice_final_seconds_bucket{le="0.05"} 1');
  expect(lines).toContain('voice_final_seconds_bucket{le="0.5"} 3');
  expect(lines).toContain('voice_final_seconds_bucket{le="30"} 3');
  expect(lines).toContain('voice_final_seconds_bucket{le="+Inf"} 4');
  expect(lines.slice(-2)).toEqual(["voice_final_seconds_sum 60.84", "voice_final_seconds_count 4"]);
});
