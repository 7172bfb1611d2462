import { BriefcaseBusiness, Plus } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import type { Workspace } from "../../api/records.ts";
import { TextField } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordRow } from "../../parts/record-row.tsx";
import { Empty } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { ViewFrame } from "../../parts/view.tsx";
import "./workspaces.css";

const PAGE = 50;

/** The workspaces that the person belongs to; each leads to its people. */
export function View(): VNode {
  const [, navigate] = useLocation();
  const [isMaking, setMaking] = useState(false);
  const [isForAll, setForAll] = useState(false);
  const list = usePages<Workspace>((cursor) => page(isForAll, cursor), [isForAll]);
  const who = account.value;
  return (
    <ViewFrame
      title="Workspaces"
      head={
        <button type="button" class="button primary push" onClick={() => setMaking(true)}>
          <Plus size={17} aria-hidden="true" /> New workspace
        </button>
      }
    >
      {who?.kind === "user" && who.role === "admin" && (
        <label class="check workspaces-all">
          <input
            type="checkbox"
            checked={isForAll}
            onChange={({ currentTarget }) => setForAll(currentTarget.checked)}
          />
          Those of others, too
        </label>
      )}
      <PageList
        list={list}
        what="workspaces"
        label="Workspaces"
        empty={<NoWorkspace onMake={() => setMaking(true)} />}
      >
        {(each) => (
          <RecordRow
            icon={<BriefcaseBusiness size={18} aria-hidden="true" />}
            title={<Link href={`/workspaces/${each.id}`}>{each.name}</Link>}
            chips={<span class="chip">{each.workspace_type}</span>}
            facts={[each.preferred_language, `since ${momentOf(each.created_at)}`]}
            actions={
              <Link
                class="button"
                href={`/workspaces/${each.id}/graph`}
                aria-label={`Graph of ${each.name}`}
              >
                Graph
              </Link>
            }
          />
        )}
      </PageList>
      {isMaking && (
        <NewWorkspace
          onClose={() => setMaking(false)}
          onMade={({ id }) => navigate(`/workspaces/${id}`)}
        />
      )}
    </ViewFrame>
  );
}

function NoWorkspace({ onMake }: { onMake: () => void }): VNode {
  const make = (
    <button type="button" class="button" onClick={onMake}>
      <Plus size={17} aria-hidden="true" /> Make the first
    </button>
  );
  return (
    <Empty title="You belong to no workspace" next={make}>
      <p>A workspace holds conversations and the people who may read them.</p>
    </Empty>
  );
}

function page(isForAll: boolean, cursor: string | undefined) {
  const query = {
    limit: PAGE,
    ...(isForAll ? { scope: "all" as const } : {}),
    cursor,
  };
  return call((api) => api.GET("/workspaces", { params: { query } }));
}

interface NewProps {
  onClose: () => void;
  onMade: (workspace: { readonly id: string }) => void;
}

function NewWorkspace({ onClose, onMade }: NewProps): VNode {
  const make = async (fields: FormData) => {
    const made = await call((api) =>
      api.POST("/workspaces", {
        body: {
          name: String(fields.get("name")).trim(),
          preferred_language: String(fields.get("language")).trim(),
        },
      }),
    );
    onMade(made);
  };
  return (
    <FormDialog title="New workspace" submit="Make it" onClose={onClose} onSubmit={make}>
      <TextField label="Name" name="name" required maxLength={200} autocomplete="off" />
      <TextField
        label="Language that is spoken there, such as en or de-DE"
        name="language"
        required
        maxLength={35}
        defaultValue="en"
      />
    </FormDialog>
  );
}
