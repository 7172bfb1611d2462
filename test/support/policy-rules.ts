import type { Scope } from "../../src/access/principal.ts";
import { ADMINS, type Caller, proofOf } from "./policy-callers.ts";

/** `ok`: the call got past who and whether, to its body or its state, or through. */
export type Outcome = "ok" | "401" | "403" | "403 elevation_required" | "404";

/**
 * In which the session is that a call names. `visible`: shared with its workspace;
 * `invited`: guests come by codes only; `shut`: its guest access is closed; `unknown`: no id of the path is anybody's.
 */
export const STATES = [
  "live",
  "ended",
  "deleted",
  "visible",
  "invited",
  "shut",
  "unknown",
] as const;

export type State = (typeof STATES)[number];

/** What a route is to answer, for every caller and state, and how to ask it. */
export interface Rule {
  /** Of which kind the thing in the path is; a session has states, other things are there or not. */
  on: "session" | "thing" | "nothing";
  /** Credentials; everybody else is 401. */
  takes:
    | "nothing"
    | "bearer"
    | "bearer or key"
    | "bearer or device key"
    | "device key"
    | "key"
    | "any";
  /** Whom the role lets in, before anything is looked up. */
  roles: "all" | "users" | "admins";
  /** To whom it is open, service keys left out. */
  open: readonly Caller[];
  /** The scope that opens it to a service key of the workspace; `several`: more than one scope. */
  scope?: Scope | "several" | "every";
  /** Words: an administrator without native access needs an elevation. */
  content?: boolean;
  /** Everybody else finds nothing there, in place of 403. */
  hidden?: boolean;
  /** It gives others a right: administrators need an elevation that covers this. */
  gives?: "in the workspace" | "in the session";
  /** For what a device had begun before its right ended. */
  backlog?: true;
  /** To whom it stays open when the session was deleted. */
  deleted?: readonly Caller[];
  /** Answers that are other than the rules say. */
  except?: Partial<Record<State, Outcome>>;
  ask?: Ask;
}

/** How to call. Without a body an ill-formed one is sent, which is looked at after the right. */
export interface Ask {
  /** Tells this call of a route from the others of the same route. */
  as?: string;
  body?: object;
  query?: string;
  /** The `user_id` is the caller's own. */
  self?: boolean;
  /** The `user_id` is the guest's who came into the session by its id. */
  guest?: boolean;
  /** A 404 with this message is about something that is looked up after the right. */
  beyond?: string;
  /**
   * A DELETE is asked for with an If-Match that nothing meets, and so ends
   * nothing. This one really ends what it is about: a session or a login made
   * for it, or the thing itself.
   */
  spends?: "session" | "login" | "itself";
}

export function outcomeOf(rule: Rule, caller: Caller, state: State): Outcome {
  const exception = rule.except?.[state];
  if (exception !== undefined) return exception;
  if (rule.takes === "nothing") return ofStrangers(rule, caller);
  if (!isTaken(rule, caller, state)) return "401";
  if (caller === "key suspended") return "403";
  if (caller === "device of leaver" && rule.backlog !== true) return "403";
  if (!hasRole(rule, caller)) return "403";
  if (state === "unknown") return "404";
  if (state === "deleted") return rule.deleted?.includes(caller) === true ? "ok" : "404";
  if (proofOf(caller) === "key") return ofKey(rule, caller);
  if (rule.gives !== undefined && lacksElevation(rule.gives, caller)) {
    return "403 elevation_required";
  }
  if (rule.open.includes(tieOf(caller, state))) return "ok";
  if (rule.hidden === true) return "404";
  return rule.content === true && caller === "admin" ? "403 elevation_required" : "403";
}

/** Only an administrator who says who they are is asked for a reason. */
function ofStrangers({ content }: Rule, caller: Caller): Outcome {
  return content === true && caller === "admin" ? "403 elevation_required" : "ok";
}

function lacksElevation(gives: NonNullable<Rule["gives"]>, caller: Caller): boolean {
  if (caller === "admin elevated for the session") return gives === "in the workspace";
  return caller === "admin" || caller === "admin native";
}

/** A guest's token ends with the access to its session. */
function isTaken({ takes, on }: Rule, caller: Caller, state: State): boolean {
  const proof = proofOf(caller);
  if (proof === "nothing") return false;
  if (on === "session" && hasLeft(caller, state)) return false;
  if (takes === "any") return true;
  if (proof === "device") return takes.endsWith("device key");
  if (proof === "key") return takes === "bearer or key" || takes === "key";
  return takes.startsWith("bearer");
}

function hasLeft(caller: Caller, state: State): boolean {
  if (caller !== "guest" && caller !== "guest by code") return false;
  if (state === "shut" || state === "deleted") return true;
  return state === "invited" && caller === "guest";
}

function hasRole({ roles }: Rule, caller: Caller): boolean {
  const proof = proofOf(caller);
  if (proof === "guest") return roles === "all";
  if (proof !== "user" || roles !== "admins") return true;
  return ADMINS.some((admin) => admin === caller);
}

/** Visible to the workspace, a session is shared with its members. */
function tieOf(caller: Caller, state: State): Caller {
  const isMember = caller === "member" || caller === "workspace owner";
  return state === "visible" && isMember ? "shared with" : caller;
}

function ofKey({ scope, on, ask }: Rule, caller: Caller): Outcome {
  const names = on !== "nothing" || namesWorkspace(ask);
  if (caller === "key elsewhere" && names) return "404";
  if (scope === "every") return "ok";
  if (caller === "key of all scopes" || caller === "key elsewhere") {
    return scope === undefined ? "403" : "ok";
  }
  return caller === `key ${scope}` ? "ok" : "403";
}

/** A workspace may also stand in the body. */
function namesWorkspace(ask: Ask | undefined): boolean {
  return Object.values(ask?.body ?? {}).includes("{workspace_id}");
}
