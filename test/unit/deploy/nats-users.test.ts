import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { layoutOf } from "../../../deploy/supervisor/layout.ts";
import {
  authorizationLines,
  natsUsers,
  TEMPLATE_USERS,
} from "../../../deploy/supervisor/nats-users.ts";

const TEMPLATE = new URL("../../../deploy/nats/nats.conf", import.meta.url);

describe("the users of NATS", () => {
  it("stand in the template as the supervisor gives them to its own servers", () => {
    const template = readFileSync(TEMPLATE, "utf8");
    expect(template).toContain(authorizationLines(TEMPLATE_USERS).join("\n"));
  });

  it("are one for each process, each with a password of its own that stays", () => {
    const users = natsUsers(layoutOf(true).services, "secret");
    expect(users.map(({ name, role }) => `${name} ${role}`)).toEqual([
      "front-1 front",
      "front-2 front",
      "sessions-1 sessions",
      "sessions-2 sessions",
      "worker-1 worker",
      "worker-2 worker",
      "supervisor supervisor",
    ]);
    expect(new Set(users.map(({ password }) => password)).size).toBe(users.length);
    expect(natsUsers(layoutOf(true).services, "secret")).toEqual(users);
    expect(natsUsers(layoutOf(false).services, "other")[0]).toMatchObject({
      name: "main",
      role: "sessions",
    });
  });
});
