import { expect, it } from "vitest";
import { rootProblem } from "../../../src/base/settings.ts";

it("root: a part that was started by itself goes on as an ordinary user, or where it is told so", () => {
  expect(rootProblem({}, 0)).toMatch(/not as root.*ALLOW_ROOT=1/);
  expect(rootProblem({ ALLOW_ROOT: "0" }, 0)).toBeDefined();
  expect(rootProblem({ ALLOW_ROOT: "1" }, 0)).toBeUndefined();
  expect(rootProblem({}, 60_578)).toBeUndefined();
});
