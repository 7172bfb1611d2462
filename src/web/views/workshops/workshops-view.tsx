import { ChevronRight, Drama, Plus } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { Workshop } from "../../api/records.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordRow } from "../../parts/record-row.tsx";
import { Awaited, Empty } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import {
  useOwnWorkspaces,
  useWorkspaces,
  WorkspaceField,
  WorkspaceFilter,
} from "../../parts/workspaces.tsx";
import { NameFields, namesOf } from "./name-fields.tsx";

const PAGE = 50;

/** The workshops of one's workspaces, each with its characters. */
export function View(): VNode {
  const [workspaceId, setWorkspace] = useState("");
  const [isMaking, setMaking] = useState(false);
  const workspaces = useWorkspaces();
  const list = usePages((cursor) => page(workspaceId, cursor), [workspaceId]);
  const named = workspaces.state.kind === "ready" ? workspaces.state.value : [];
  const names = new Map(named.map(({ id, name }) => [id, name]));
  const head = (
    <div class="push">
      <button type="button" class="button primary" onClick={() => setMaking(true)}>
        <Plus size={17} aria-hidden="true" /> New workshop
      </button>
    </div>
  );
  const makeFirst = (
    <button type="button" class="button" onClick={() => setMaking(true)}>
      Make the first workshop
    </button>
  );
  return (
    <ViewFrame title="Workshops" head={head}>
      <p class="soft lead">
        A workshop is what several sessions are about: a play, a course, a project. The names of its
        characters are recognised better in its sessions, and offered for the voices.
      </p>
      <div class="row list-filters">
        <WorkspaceFilter workspaces={named} chosen={workspaceId} onChoose={setWorkspace} />
      </div>
      <PageList
        list={list}
        what="workshops"
        label="Workshops"
        empty={<Empty title="No workshop yet" next={makeFirst} />}
      >
        {(each) => <WorkshopRow workshop={each} workspace={names.get(each.workspace_id)} />}
      </PageList>
      {isMaking && <NewWorkshop chosen={workspaceId} onClose={() => setMaking(false)} />}
    </ViewFrame>
  );
}

function page(workspaceId: string, cursor?: string) {
  const query = { limit: PAGE, workspace_id: workspaceId || undefined, cursor };
  return call((api) => api.GET("/workshops", { params: { query } }));
}

interface WorkshopRowProps {
  workshop: Workshop;
  workspace: string | undefined;
}

function WorkshopRow({ workshop: { id, name, description }, workspace }: WorkshopRowProps): VNode {
  return (
    <RecordRow
      icon={<Drama size={20} aria-hidden="true" />}
      title={<Link href={`/workshops/${id}`}>{name}</Link>}
      facts={[workspace]}
      actions={<ChevronRight size={18} aria-hidden="true" class="soft" />}
    >
      {description !== "" && <p class="small">{description}</p>}
    </RecordRow>
  );
}

interface NewWorkshopProps {
  chosen: string;
  onClose: () => void;
}

function NewWorkshop({ chosen, onClose }: NewWorkshopProps): VNode {
  const { state, reload } = useOwnWorkspaces();
  const [, navigate] = useLocation();
  if (state.kind !== "ready") {
    return (
      <Dialog title="New workshop" onClose={onClose}>
        <Awaited of={{ state, reload }} what="your workspaces" lines={3} />
      </Dialog>
    );
  }
  const make = async (fields: FormData) => {
    const body = { ...namesOf(fields), workspace_id: String(fields.get("workspace")) };
    const made = await call((api) => api.POST("/workshops", { body }));
    navigate(`/workshops/${made.id}`);
  };
  return (
    <FormDialog title="New workshop" submit="Make it" onSubmit={make} onClose={onClose}>
      <NameFields />
      <WorkspaceField workspaces={state.value} chosen={chosen} />
    </FormDialog>
  );
}
