import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import type { Device, Session, WorkspaceMember } from "../../api/records.ts";
import { usePages } from "../../parts/pages.ts";
import { useRefreshing } from "../../parts/refreshing.ts";
import { useResource } from "../../parts/resource.ts";

const PAGE = 50;
const REFRESH_MS = 10_000;
/** Most workspaces whose people are asked for, to name owners. */
const MOST_WORKSPACES = 20;

export type DeviceStatus = Device["status"];

/** The devices of a workspace, or of all with "". */
export function useDevices(workspaceId: string, status: DeviceStatus) {
  const list = usePages(
    (cursor) => {
      const query = { limit: PAGE, status, workspace_id: workspaceId || undefined, cursor };
      return call((api) => api.GET("/devices", { params: { query } }));
    },
    [workspaceId, status],
  );
  // Further pages that somebody opened stay; the beginning alone is looked at again.
  useRefreshing(list.reload, list.items.length > PAGE ? undefined : REFRESH_MS);
  return list;
}

/** Who belongs to the devices' workspaces, by workspace; some may be missing. */
export function usePeople(
  devices: readonly Device[],
): ReadonlyMap<string, readonly WorkspaceMember[]> {
  const ids = [...new Set(devices.flatMap(({ workspace_id: id }) => id ?? []))]
    .slice(0, MOST_WORKSPACES)
    .sort();
  const { state } = useResource(async () => {
    const query = { limit: 100 };
    const pages = await Promise.allSettled(
      ids.map((id) =>
        call((api) => api.GET("/workspaces/{id}/members", { params: { path: { id }, query } })),
      ),
    );
    return new Map(
      pages.flatMap((page, n) =>
        page.status === "fulfilled" ? [[ids[n] ?? "", page.value.items] as const] : [],
      ),
    );
  }, [ids.join()]);
  return state.kind === "ready" ? state.value : new Map();
}

/** The sessions that record now, by device. */
export function useRecordings(): ReadonlyMap<string, Session> {
  const { state, reload } = useResource(() => {
    const query = { status: "recording", limit: 100 } as const;
    return call((api) => api.GET("/sessions", { params: { query } }));
  }, []);
  useRefreshing(reload, REFRESH_MS);
  const items = state.kind === "ready" ? state.value.items : [];
  return new Map(items.flatMap((each) => (each.device_id ? [[each.device_id, each]] : [])));
}

/** What the signed-in person may do with a device. */
export function rightsOn(device: Device, people: readonly WorkspaceMember[]) {
  const who = account.value;
  const me = who?.kind === "user" ? who : undefined;
  const isOwn = me !== undefined && device.owner_id === me.id;
  const role = people.find(({ user_id: id }) => id === me?.id)?.role;
  return {
    isOwn,
    mayEdit: isOwn || me?.role === "admin" || role === "owner",
    me: me?.id,
  };
}
