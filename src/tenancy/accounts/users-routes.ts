import { Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-entry.ts";
import {
  type ElevationInForce,
  type ElevationScope,
  elevationDetail,
  type OwnerNotices,
} from "../../access/elevation.ts";
import { mayWorkspace } from "../../access/policy.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { suspendedSentence } from "../../access/suspended-credentials.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { requireUser } from "../../rest/callers.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import { nameSchema } from "../../wire/names.ts";
import { newAddressSchema } from "./mail-addresses.ts";
import { checkPassword, PASSWORD_MAX_BYTES, PASSWORD_MIN_LENGTH } from "./password-rule.ts";
import { type PasswordHasher, signedIn } from "./passwords.ts";
import { accountRoleSchema, type SignIn } from "./sign-in.ts";
import type { UserFilter, UserRecord, UserStore } from "./users-store.ts";

interface UserAccessOptions {
  users: Pick<UserStore, "find" | "setDisabled" | "suspended">;
  signIn: Pick<SignIn, "forgive">;
  revocations: RevocationFeed;
}

/** POST /users/{id}/disable and /users/{id}/enable. */
export function userAccessRoutes(options: UserAccessOptions): Route[] {
  return [setAccess(options, "disable"), setAccess(options, "enable")];
}

const TEXTS = {
  disable: {
    summary: "Disable a user: every login ends within seconds, open sockets included",
    description:
      "By an administrator, not of oneself (400). What the user set up stops meanwhile: service keys and webhooks are suspended, devices begin no session and may for 24 h bring what they had begun. Disabling again is answered the same.",
    self: "You cannot disable yourself.",
    done: "The user is disabled.",
  },
  enable: {
    summary: "Enable a user who was disabled",
    description:
      "By an administrator, not of oneself (400). Service keys, webhooks and devices of the user that were suspended because of it work again, and strangers' wrong guesses of the password no longer hold the user up at a new place. Enabling again is answered the same.",
    self: "You cannot enable yourself.",
    done: "The user is enabled and can sign in again.",
  },
};

function setAccess(
  { users, signIn, revocations }: UserAccessOptions,
  action: "disable" | "enable",
): Route {
  const texts = TEXTS[action];
  return defineRoute({
    method: "post",
    path: `/users/{id}/${action}`,
    id: `${action}User`,
    tag: "Admin",
    summary: texts.summary,
    description: texts.description,
    auth: ["bearer"],
    roles: ["admin"],
    params: Type.Object({ id: Type.String() }),
    responses: { 200: acknowledged(texts.done) },
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
      if (action === "enable") await signIn.forgive(user);
      return acknowledge(texts.done + suspendedSentence(await users.suspended(user.id)));
    },
  });
}

export interface UserOptions {
  users: UserStore;
  /** Looks up workspaces and a member's role; undefined when there is none. */
  workspaces: {
    find(id: string): Promise<object | undefined>;
    role(workspaceId: string, userId: string): Promise<"owner" | "member" | undefined>;
  };
  passwords: Pick<PasswordHasher, "hash">;
  cursorKey: Uint8Array;
}

/** POST /users, GET /users, GET /users/{id}. */
export function userRoutes(options: UserOptions): Route[] {
  return [createUser(options), listUsers(options), getUser(options)];
}

const userSchema = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.String({ examples: ["Anna Brown"] }),
    role: accountRoleSchema,
    disabled: Type.Boolean(),
    disabled_at: Type.Optional(Type.String()),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { $id: "User" },
);

/** The data that members of a workspace see of each other. */
const colleagueSchema = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.String({ examples: ["Anna Brown"] }),
  },
  { $id: "Colleague" },
);

function presentUser(user: UserRecord) {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    role: user.role,
    disabled: user.disabledAt !== undefined,
    disabled_at: user.disabledAt === undefined ? undefined : toTimestamp(user.disabledAt),
    created_at: toTimestamp(user.createdAt),
    updated_at: toTimestamp(user.updatedAt),
  };
}

function presentColleague({ id, email, name }: UserRecord) {
  return { id, email, name };
}

function createUser({ users, passwords }: UserOptions): Route {
  return defineRoute({
    method: "post",
    path: "/users",
    id: "createUser",
    tag: "Admin",
    summary: "Create a user",
    description:
      "By an administrator. The user signs in with this address and password; `role` is `participant` by default. 409 when there is an account with this address.",
    auth: ["bearer"],
    roles: ["admin"],
    body: {
      kind: "json",
      schema: Type.Object({
        email: newAddressSchema,
        name: Type.Optional(nameSchema({ maxLength: 200, examples: ["Anna Brown"] })),
        role: Type.Optional(accountRoleSchema),
        password: Type.String({
          description: "The first password; common ones are refused",
          minLength: PASSWORD_MIN_LENGTH,
          maxLength: PASSWORD_MAX_BYTES,
        }),
      }),
    },
    responses: { 201: { description: "The user", schema: userSchema } },
    errors: ["conflict"],
    async handle({ principal, body }) {
      const caller = requireUser(principal);
      if (caller.role !== "admin") throw new AppError("forbidden", "Only an admin creates users.");
      const { email, name = "", role = "participant", password } = body;
      await checkPassword(password, email);
      const id = newId();
      const passwordHash = await passwords.hash(password, signedIn(caller));
      const entry = {
        kind: "user_created",
        actor: actorOf(caller),
        subjectId: id,
        detail: { role },
      } as const;
      if (!(await users.insert({ id, email, name, role, passwordHash }, entry))) {
        throw new AppError("conflict", "There is a user with this e-mail address already.");
      }
      const user = await users.find(id);
      if (user === undefined) throw new AppError("unavailable", "The new user cannot be read.");
      return { status: 201, body: presentUser(user) };
    },
  });
}

function listUsers({ users, workspaces, cursorKey }: UserOptions): Route {
  return defineRoute({
    method: "get",
    path: "/users",
    id: "listUsers",
    tag: "Admin",
    summary: "Users: all for an admin, those of one workspace for its members",
    description:
      "Members of the workspace given as `workspace_id` see id, e-mail address and name of its users.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    query: Type.Object({
      ...pageQuery,
      workspace_id: Type.Optional(Type.String()),
      role: Type.Optional(accountRoleSchema),
      disabled: Type.Optional(Type.Boolean()),
      q: Type.Optional(
        Type.String({ maxLength: 200, description: "Part of the name or e-mail address" }),
      ),
    }),
    responses: {
      200: {
        description: "A page of users",
        schema: pageSchema(Type.Union([userSchema, colleagueSchema])),
      },
    },
    errors: ["not_found"],
    async handle({ principal, query }) {
      const caller = requireUser(principal);
      const workspaceId = filterId("workspace_id", query.workspace_id);
      const page = toPageRequest(cursorKey, "users", query);
      await checkMayList(caller, workspaceId, workspaces);
      const { role, disabled, q: search } = query;
      const all = caller.role === "admin";
      const filter: UserFilter = all
        ? { workspaceId, role, disabled, search }
        : { workspaceId, search, disabled: false };
      const found = await users.list(filter, page);
      const present = all ? presentUser : presentColleague;
      return { status: 200, body: toPageBody(cursorKey, "users", found, present) };
    },
  });
}

async function checkMayList(
  caller: UserPrincipal,
  workspaceId: string | undefined,
  workspaces: UserOptions["workspaces"],
): Promise<void> {
  if (workspaceId === undefined) {
    if (caller.role === "admin") return;
    throw new AppError("forbidden", "Only an admin lists all users; give a `workspace_id`.");
  }
  if ((await workspaces.find(workspaceId)) === undefined) {
    throw unknownThing("workspace", workspaceId);
  }
  const role = await workspaces.role(workspaceId, caller.id);
  const facts = { kind: "workspace", id: workspaceId, role } as const;
  if (mayWorkspace(caller, "workspace.read", facts) !== "allow") {
    throw new AppError("forbidden", "You do not belong to this workspace.");
  }
}

function getUser({ users }: UserOptions): Route {
  return defineRoute({
    method: "get",
    path: "/users/{id}",
    id: "getUser",
    tag: "Admin",
    summary: "One user: any for an admin, otherwise oneself",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    responses: { 200: { description: "The user", schema: userSchema } },
    async resolve({ principal, params }) {
      const caller = requireUser(principal);
      if (caller.role !== "admin" && caller.id !== params.id) {
        throw new AppError("forbidden", "Only an admin sees other users.");
      }
      return requireKnownUser(users, params.id);
    },
    async handle(_request, user: UserRecord) {
      return { status: 200, body: presentUser(user) };
    },
  });
}

/** Throws 404 for an id that no user has. */
async function requireKnownUser(users: Pick<UserStore, "find">, id: string): Promise<UserRecord> {
  const user = isId(id) ? await users.find(id) : undefined;
  if (user === undefined) throw unknownThing("user", id);
  return user;
}

export interface UserEditOptions {
  users: Pick<UserStore, "find" | "rename" | "setRole" | "readsMoreAsModerator">;
  revocations: Pick<RevocationFeed, "publish">;
  elevations: {
    inForce(adminId: string, place: ElevationScope): Promise<ElevationInForce | undefined>;
  };
  notices: OwnerNotices;
}

/** PATCH /users/{id}. */
export function userEditRoutes(options: UserEditOptions): Route[] {
  const { users, revocations } = options;
  const edit = defineRoute({
    method: "patch",
    path: "/users/{id}",
    id: "editUser",
    tag: "Admin",
    summary: "Change a user's name or role",
    description:
      "An admin changes anybody's; everybody else only the own name. Another role holds at once, also for tokens given out before. The last admin stays one. Moderators read every session of the workspaces that they belong to: to make one of a member of others' workspaces, or of oneself while belonging to any, takes an elevation that covers all sessions, and the owners are told.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    body: {
      kind: "json",
      schema: Type.Object({
        name: Type.Optional(nameSchema({ maxLength: 200, examples: ["Anna Brown"] })),
        role: Type.Optional(accountRoleSchema),
      }),
    },
    responses: { 200: { description: "The user as it stands", schema: userSchema } },
    errors: ["conflict", "elevation_required"],
    async resolve({ principal, params }) {
      const caller = requireUser(principal);
      if (caller.role !== "admin" && caller.id !== params.id) {
        throw new AppError("forbidden", "Only an admin changes other users.");
      }
      return requireKnownUser(users, params.id);
    },
    async handle({ principal, body }, user: UserRecord) {
      const { name, role } = body;
      const caller = requireUser(principal);
      if (name === undefined && role === undefined) {
        throw new AppError("invalid_body", "Send `name`, `role`, or both.");
      }
      if (role !== undefined) {
        if (caller.role !== "admin") {
          throw new AppError("forbidden", "Only an admin changes roles.");
        }
        await setRole(options, caller, user, role);
        revocations.publish({ kind: "user", userId: user.id });
      }
      if (name !== undefined) await users.rename(user.id, name);
      return { status: 200, body: presentUser(await requireKnownUser(users, user.id)) };
    },
  });
  return [edit];
}

/**
 * The elevation under which an administrator makes somebody a moderator; undefined where it opens
 * nothing that is not his to open. Throws `elevation_required`.
 */
async function moderatorElevation(
  { users, elevations }: UserEditOptions,
  caller: UserPrincipal,
  user: UserRecord,
): Promise<ElevationInForce | undefined> {
  if (!(await users.readsMoreAsModerator(user.id, caller.id))) return undefined;
  const elevation = await elevations.inForce(caller.id, {});
  if (elevation !== undefined) return elevation;
  throw new AppError(
    "elevation_required",
    "As a moderator this user would read every session of the workspaces that they belong to. Ask for an elevation of all sessions with a reason at POST /api/admin/content-elevate.",
  );
}

async function setRole(
  options: UserEditOptions,
  caller: UserPrincipal,
  user: UserRecord,
  role: UserRecord["role"],
): Promise<void> {
  const { users, notices } = options;
  const opens = role === "moderator" && user.role !== role;
  const elevation = opens ? await moderatorElevation(options, caller, user) : undefined;
  const outcome = await users.setRole(user.id, role, {
    kind: "user_role_changed",
    actor: actorOf(caller),
    subjectId: user.id,
    detail: { from: user.role, to: role, ...elevationDetail(elevation) },
  });
  if (outcome === "unknown") throw new AppError("not_found", "There is no user with this id.");
  if (outcome === "last_admin") {
    throw new AppError("conflict", "There must be at least one active administrator.");
  }
  if (elevation !== undefined) {
    notices.notify({ adminId: caller.id, elevation, of: { moderatorId: user.id } });
  }
}
