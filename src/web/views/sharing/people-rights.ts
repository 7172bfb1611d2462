import { account } from "../../api/account.ts";
import { isElevated } from "../../api/elevation.ts";
import type { SharedSession } from "./shared-session.ts";

/** What somebody may do with the people of a session. */
export interface PeopleRights {
  readonly give: boolean;
  readonly takeBack: boolean;
  readonly removeGuests: boolean;
}

/** Those of the person who is signed in. */
export function rightsTo(model: SharedSession): PeopleRights {
  const who = account.value;
  const role = who?.kind === "user" ? who.role : undefined;
  const workspace = model.session.value?.workspace_id;
  const place = { session_id: model.id, ...(workspace && { workspace_id: workspace }) };
  const takeBack = model.isOwner || role === "admin";
  return {
    give: model.isOwner || (role === "admin" && isElevated(place)),
    takeBack,
    removeGuests: takeBack || role === "moderator",
  };
}
