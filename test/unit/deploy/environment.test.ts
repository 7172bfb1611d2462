import { describe, expect, it } from "vitest";
import { usableLogin } from "../../../deploy/supervisor/environment.ts";

describe("the login that is shown", () => {
  const admin = { email: "admin@voice.local", password: "made at the first start" };

  it("password: left out when the set-up says that it does not work", () => {
    const line = (works: boolean) =>
      `${JSON.stringify({ event: "setup", admin_password_works: works })}\n`;
    expect(usableLogin(admin, line(true))).toEqual(admin);
    expect(usableLogin(admin, line(false))).toEqual({ email: admin.email });
  });
});
