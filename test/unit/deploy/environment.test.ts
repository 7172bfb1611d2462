import { describe, expect, it } from "vitest";
import { toldLogin } from "../../../deploy/supervisor/environment.ts";

describe("the login that is shown", () => {
  const admin = { email: "admin@voice.local", password: "made at the first start", given: false };
  const told = (state: string) =>
    toldLogin(admin, `${JSON.stringify({ event: "setup", admin_password: state })}\n`);

  it("password: shown when the set-up says that it works", () => {
    const { email, password } = admin;
    expect(told("works")).toEqual({
      login: { email, password },
      sentence: undefined,
      isKnown: true,
    });
  });

  it.each([
    ["own", "your own password"],
    ["replaced", "the newer password"],
    ["disabled", "disabled"],
    ["elsewhere", "ADMIN_EMAIL=… ADMIN_PASSWORD=… npm run up"],
  ])("password: left out when it is %s, with what to do", (state, words) => {
    const { login, sentence } = told(state);
    expect(login).toEqual({ email: admin.email });
    expect(sentence).toContain(words);
  });
});
