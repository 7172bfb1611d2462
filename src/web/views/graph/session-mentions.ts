import { ApiFailure, call } from "../../api/client.ts";
import { type Spoken, spokenIn } from "./evidence.ts";

const PAGE = 100;
/** Most pages that are looked through for the mentions of one session. */
const MOST_PAGES = 10;

/** Where an entity is mentioned in one session; undefined for those who see no graph of its workspace. */
export async function mentionsOf(
  workspaceId: string,
  entityId: string,
  sessionId: string,
): Promise<{ moments: Spoken[]; isPart: boolean } | undefined> {
  const moments: Spoken[] = [];
  const path = { id: workspaceId, entity_id: entityId };
  let cursor: string | undefined;
  for (let n = 0; n < MOST_PAGES; n += 1) {
    const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    try {
      const page = await call((api) =>
        api.GET("/workspaces/{id}/graph/entities/{entity_id}", { params: { path, query } }),
      );
      const own = page.items.filter((each) => each.session_id === sessionId);
      moments.push(...own.map((each) => spokenIn(each)));
      if (page.next_cursor === null) return { moments, isPart: false };
      cursor = page.next_cursor;
    } catch (error) {
      const isClosed = error instanceof ApiFailure && [403, 404].includes(error.status);
      if (isClosed) return undefined;
      throw error;
    }
  }
  return { moments, isPart: true };
}
