import { Metadata } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { checkServiceKey } from "../../../../workers/grpc/service-key.ts";

function bearing(authorization?: string): Metadata {
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set("authorization", authorization);
  return metadata;
}

describe("service key: check", () => {
  it("wants exactly the key", () => {
    expect(() => checkServiceKey("the-key", bearing("Bearer the-key"))).not.toThrow();
    for (const wrong of [undefined, "", "the-key", "Bearer the-ke", "bearer the-key"]) {
      expect(() => checkServiceKey("the-key", bearing(wrong))).toThrow(/service key/);
    }
  });
});
