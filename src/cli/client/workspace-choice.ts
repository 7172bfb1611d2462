import type { UserSession } from "./user-session.ts";

const MOST_PAGES = 100;

interface Workspace {
  readonly id: string;
  readonly name: string;
}

export interface ChosenWorkspace extends Workspace {
  /** How it came to be this one. */
  readonly because: "given" | "only" | "oldest" | "new";
}

/**
 * The workspace that a device joins: the given one, else the oldest to which the user belongs, which
 * stays the same whatever is made later, else a new one of this name.
 */
export async function chooseWorkspace(
  user: UserSession,
  given?: string,
  newName = "Simulated devices",
): Promise<ChosenWorkspace> {
  if (given) {
    const params = { path: { id: given } };
    const { id, name } = await user.call((client) => client.GET("/workspaces/{id}", { params }));
    return { id, name, because: "given" };
  }
  const own = await ownWorkspaces(user);
  const oldest = own.at(-1);
  if (oldest) return { ...oldest, because: own.length === 1 ? "only" : "oldest" };
  const body = { name: newName, preferred_language: "en" };
  const { id, name } = await user.call((client) => client.POST("/workspaces", { body }));
  return { id, name, because: "new" };
}

/** Newest first. */
async function ownWorkspaces(user: UserSession): Promise<Workspace[]> {
  const own: Workspace[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const params = { query: { limit: 100, cursor } };
    const page = await user.call((client) => client.GET("/workspaces", { params }));
    own.push(...page.items);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  return own;
}

/** `workspace "Demo"`, and why it is this one when nobody said so. */
export function describeChoice({ name, because }: ChosenWorkspace): string {
  const reasons = {
    given: "",
    only: "",
    oldest: " (the oldest of yours; --workspace takes another)",
    new: " (made now: you belonged to none)",
  };
  return `workspace "${name}"${reasons[because]}`;
}
