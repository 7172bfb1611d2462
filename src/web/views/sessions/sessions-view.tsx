import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { chosenWorkspace, rememberWorkspace } from "../../parts/chosen-workspace.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { useResource } from "../../parts/resource.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { useWorkspaces } from "../../parts/workspaces.tsx";
import { IncomingFiles } from "../../uploads/incoming-files.tsx";
import { LanguageField, useSpokenLanguage } from "../../uploads/language-field.tsx";
import { UploadButton } from "../../uploads/upload-button.tsx";
import { UploadList } from "../../uploads/upload-list.tsx";
import { uploads } from "../../uploads/upload-state.ts";
import { withUploader } from "../../uploads/uploads.ts";
import { ListKeys } from "../search/list-keys.tsx";
import { SearchBox } from "../search/search-box.tsx";
import { SessionList } from "../session-list/session-list.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { InvitationsNotice } from "./invitations-notice.tsx";
import { UploadTarget } from "./upload-target.tsx";
import "../session-list/sessions.css";

const REFRESH_MS = 10_000;
const PAGE = 50;

/** Sessions that one may see: those that record now on top, the newest first. */
export function View(): VNode {
  const workspaces = useWorkspaces();
  const list = useResource(() => page(), []);
  useEffect(() => {
    const timer = setInterval(() => {
      // Further pages that somebody opened stay; the beginning alone is looked at again.
      const isFirst = list.state.kind === "ready" && list.state.value.items.length <= PAGE;
      if (document.visibilityState === "visible" && isFirst) list.reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [list.state, list.reload]);
  const sent = uploads.value.filter(({ phase }) => phase.kind === "done").length;
  useEffect(() => {
    // The sessions of files that have come, and the workspace that was made for the first of them.
    if (sent === 0) return;
    list.reload();
    workspaces.reload();
  }, [sent]);
  const named = workspaces.state.kind === "ready" ? workspaces.state.value : [];
  const workspaceId = chosenWorkspace(named);
  const spoken = useSpokenLanguage(named.find(({ id }) => id === workspaceId));
  const { language } = spoken;
  const bring = (files: readonly File[]) =>
    void withUploader((uploader) => uploader.bring(files, { workspaceId, language }));
  const listed = list.state.kind === "ready" ? list.state.value : undefined;
  const isEmpty = listed?.items.length === 0;
  const isFirst = isEmpty && uploads.value.length === 0;
  const target = (
    <>
      <UploadTarget workspaces={named} onChoose={rememberWorkspace} />
      <LanguageField spoken={spoken} />
    </>
  );
  return (
    <ViewFrame
      title="Sessions"
      head={
        <>
          {!isFirst && <UploadButton class="button primary" onFiles={bring} />}
          {!isFirst && target}
          <SearchBox />
        </>
      }
    >
      <InvitationsNotice />
      <IncomingFiles onFiles={bring} />
      <UploadList />
      {list.state.kind === "loading" && <Loading what="sessions" />}
      {list.state.kind === "failed" && <Failure error={list.state.error} retry={list.reload} />}
      {isFirst && <FirstSteps onFiles={bring}>{target}</FirstSteps>}
      {listed !== undefined && (
        <div class="stack">
          <SessionList sessions={listed.items} workspaces={named} />
          <MoreButton
            label="Show older ones"
            more={
              listed.next_cursor === null
                ? undefined
                : async () => {
                    const next = await page(listed.next_cursor ?? undefined);
                    list.set({ ...next, items: [...listed.items, ...next.items] });
                  }
            }
          />
        </div>
      )}
      <ListKeys />
    </ViewFrame>
  );
}

function page(cursor?: string) {
  const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
  return call((api) => api.GET("/sessions", { params: { query } }));
}
