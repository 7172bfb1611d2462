import { describe, expect, it } from "vitest";
import { checkPassword } from "../../../../src/tenancy/accounts/password-rule.ts";

const EMAIL = "ann@example.org";
const refused = { code: "invalid_body" };

describe("passwords", () => {
  it("of any composition are taken, from 8 characters to a kilobyte", async () => {
    for (const password of ["qzvtkwpm", "        ", "жбщцыюэя", "7f3b 9Q!x", "zk".repeat(512)]) {
      await expect(checkPassword(password, EMAIL)).resolves.toBeUndefined();
    }
  });

  it("that are short, endless, common or the address itself are refused", async () => {
    for (const password of ["qzvtkwp", "zk".repeat(513), "Password123", "ANN@example.org"]) {
      await expect(checkPassword(password, EMAIL)).rejects.toMatchObject(refused);
    }
  });

  it("made of the words of this service alone are refused", async () => {
    for (const password of [
      "VoiceSession",
      "voice-admin-2026",
      "Transcript1!",
      "session service",
    ]) {
      await expect(checkPassword(password, EMAIL)).rejects.toMatchObject(refused);
    }
    await expect(checkPassword("voice of a tall giraffe", EMAIL)).resolves.toBeUndefined();
  });
});
