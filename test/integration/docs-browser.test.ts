import { afterAll, beforeAll, describe, it } from "vitest";
import { ReferenceFixture } from "../support/reference-fixture.ts";

describe("reference in a browser", () => {
  let reference: ReferenceFixture;
  beforeAll(async () => {
    reference = await ReferenceFixture.open();
  });
  afterAll(() => reference?.close());

  it("reference: shows both documents in 1280 pixels, and asks nobody else", () =>
    reference.expectDocuments(1280));
});
