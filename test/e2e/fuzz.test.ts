import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fuzzService } from "../fuzz/fuzz-service.ts";
import { WholeService } from "../support/whole-service.ts";

describe("fuzz", () => {
  let service: WholeService;
  beforeAll(async () => {
    service = await WholeService.start({ RATE_LIMIT_FACTOR: "0" });
  });
  afterAll(() => service?.stop());

  it("fuzz: answers odd requests, frames, calls and uploads as declared, none with a failure of its own", async () => {
    // The same requests at each run; `npm run nightly` draws new ones.
    const seed = 31;
    const cases = { http: 150, live: 20, device: 20, grpc: 40, multipart: 40 };
    const { findings } = await fuzzService(service, { cases, seed });
    expect(findings.texts, `npm run fuzz -- --seed ${seed}`).toEqual([]);
  });
});
