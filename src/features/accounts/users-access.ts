import { Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-trail.ts";
import type { RevocationFeed } from "../../access/revocation-feed.ts";
import { AppError } from "../../base/errors.ts";
import { acknowledge, acknowledgementSchema } from "../../rest/acknowledgement.ts";
import { requireUser } from "../../rest/callers.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { requireKnownUser } from "./users.ts";
import type { UserDirectory, UserRecord } from "./users-directory.ts";

export interface UserAccessPorts {
  users: Pick<UserDirectory, "find" | "setDisabled">;
  revocations: RevocationFeed;
}

/** POST /users/{id}/disable and /users/{id}/enable. */
export function userAccessRoutes(ports: UserAccessPorts): Route[] {
  return [setAccess(ports, "disable"), setAccess(ports, "enable")];
}

const TEXTS = {
  disable: {
    summary: "Disable a user: every login ends within seconds, open sockets included",
    self: "You cannot disable yourself.",
    done: "The user is disabled.",
  },
  enable: {
    summary: "Enable a user who was disabled",
    self: "You cannot enable yourself.",
    done: "The user is enabled and can sign in again.",
  },
};

function setAccess({ users, revocations }: UserAccessPorts, action: "disable" | "enable"): Route {
  const texts = TEXTS[action];
  return defineRoute({
    method: "post",
    path: `/users/{id}/${action}`,
    id: `${action}User`,
    tag: "Admin",
    summary: texts.summary,
    auth: ["bearer"],
    roles: ["admin"],
    params: Type.Object({ id: Type.String() }),
    responses: { 200: { description: texts.done, schema: acknowledgementSchema } },
    errors: ["bad_request", "unauthorized", "invalid_token", "forbidden", "not_found"],
    async resolve({ principal, params }) {
      if (requireUser(principal).role !== "admin") {
        throw new AppError("forbidden", "Only an admin does this.");
      }
      return requireKnownUser(users, params.id);
    },
    async handle({ principal }, user: UserRecord) {
      if (requireUser(principal).id === user.id) throw new AppError("bad_request", texts.self);
      const outcome = await users.setDisabled(user.id, action === "disable", {
        kind: action === "disable" ? "user_disabled" : "user_enabled",
        actor: actorOf(requireUser(principal)),
        subjectId: user.id,
      });
      if (outcome === "unknown") throw new AppError("not_found", "There is no user with this id.");
      revocations.publish({ kind: "user", userId: user.id });
      return acknowledge(texts.done);
    },
  });
}
