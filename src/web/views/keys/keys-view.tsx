import { Plus } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { ServiceKey } from "../../api/records.ts";
import { Choice } from "../../parts/fields.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { Empty, NothingFits } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { useWorkspaces, WorkspaceFilter } from "../../parts/workspaces.tsx";
import { KeyRow } from "./key-row.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";
import "./keys.css";

const PAGE = 50;

/** Keys of programs, of the workspaces that one owns. */
export function View(): VNode {
  const [workspaceId, setWorkspace] = useState("");
  const [status, setStatus] = useState<"" | ServiceKey["status"]>("");
  const [isMaking, setMaking] = useState(false);
  const workspaces = useWorkspaces();
  const list = usePages((cursor) => page(workspaceId, status, cursor), [workspaceId, status]);
  const named = workspaces.state.kind === "ready" ? workspaces.state.value : [];
  const names = new Map(named.map(({ id, name }) => [id, name]));
  const isNarrowed = workspaceId !== "" || status !== "";
  const showAll = () => {
    setWorkspace("");
    setStatus("");
  };
  const head = (
    <div class="push">
      <button type="button" class="button primary" onClick={() => setMaking(true)}>
        <Plus size={17} aria-hidden="true" /> New key
      </button>
    </div>
  );
  return (
    <ViewFrame title="API keys" head={head}>
      <p class="soft lead">
        A key lets a program of yours work in one workspace, with the rights that you give it and no
        others. <Link href="/terminal">Where the interface is described</Link>
      </p>
      <div class="row list-filters">
        <WorkspaceFilter workspaces={named} chosen={workspaceId} onChoose={setWorkspace} />
        <Choice
          class="input filter"
          aria-label="State"
          value={status}
          of={STATUSES}
          onChoose={setStatus}
        />
      </div>
      <PageList
        list={list}
        what="keys"
        label="API keys"
        empty={<NoKeys onMake={() => setMaking(true)} onAll={isNarrowed ? showAll : undefined} />}
      >
        {(key) => (
          <KeyRow
            serviceKey={key}
            workspace={names.get(key.workspace_id)}
            onChanged={list.put}
            onStale={list.reload}
            onGone={() => list.drop(key.id)}
          />
        )}
      </PageList>
      {isMaking && (
        <NewKeyDialog
          chosen={workspaceId}
          onMade={() => {
            // The dialog makes a workspace for who had none.
            workspaces.reload();
            list.reload();
          }}
          onClose={() => setMaking(false)}
        />
      )}
    </ViewFrame>
  );
}

function page(workspaceId: string, status: "" | ServiceKey["status"], cursor?: string) {
  const query = {
    limit: PAGE,
    workspace_id: workspaceId || undefined,
    status: status || undefined,
    cursor,
  };
  return call((api) => api.GET("/api-keys", { params: { query } }));
}

const STATUSES: readonly { id: "" | ServiceKey["status"]; name: string }[] = [
  { id: "", name: "Any state" },
  { id: "active", name: "Active" },
  { id: "suspended", name: "Suspended" },
  { id: "expired", name: "Expired" },
];

interface NoKeysProps {
  onMake: () => void;
  /** Given where the list was narrowed. */
  onAll: (() => void) | undefined;
}

function NoKeys({ onMake, onAll }: NoKeysProps): VNode {
  if (onAll !== undefined) return <NothingFits title="No key fits" onAll={onAll} />;
  const make = (
    <button type="button" class="button" onClick={onMake}>
      Make the first key
    </button>
  );
  return (
    <Empty title="No key yet" next={make}>
      <p>Those of workspaces that you own appear here.</p>
    </Empty>
  );
}
