import { Plus } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { account } from "../../api/account.ts";
import type { Device, Workspace } from "../../api/records.ts";
import { Choice } from "../../parts/fields.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { Empty, NothingFits } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { useWorkspaces, WorkspaceFilter } from "../../parts/workspaces.tsx";
import { DeviceRow } from "./device-row.tsx";
import { OldBrowsers } from "./old-browsers.tsx";
import { PairDialog } from "./pair-dialog.tsx";
import { type DeviceStatus, useDevices, usePeople, useRecordings } from "./use-devices.ts";
import "./devices.css";

interface Params {
  deed?: string;
  code?: string;
}

/** The devices that one paired or shares a workspace with; `/devices/pair/CODE` pairs one. */
export function View({ params }: { params: Params }): VNode {
  const [, navigate] = useLocation();
  const [workspaceId, setWorkspace] = useState("");
  const [status, setStatus] = useState<DeviceStatus>("paired");
  const [isPairing, setPairing] = useState(false);
  const isLinked = params.deed === "pair";
  const workspaces = useWorkspaces();
  const list = useDevices(workspaceId, status);
  const named = workspaces.state.kind === "ready" ? workspaces.state.value : [];
  const isNarrowed = workspaceId !== "" || status !== "paired";
  const showAll = () => {
    setWorkspace("");
    setStatus("paired");
  };
  const close = () => {
    setPairing(false);
    // The dialog makes a workspace for who had none.
    workspaces.reload();
    list.reload();
    if (isLinked) navigate("/devices", { replace: true });
  };
  return (
    <ViewFrame title="Devices" head={<PairButton onClick={() => setPairing(true)} />}>
      <div class="row list-filters">
        <WorkspaceFilter workspaces={named} chosen={workspaceId} onChoose={setWorkspace} />
        <Choice
          class="input filter"
          aria-label="State"
          value={status}
          of={[
            { id: "paired", name: "Paired" },
            { id: "revoked", name: "Unpaired" },
          ]}
          onChoose={setStatus}
        />
        <OldBrowsers devices={list.items} me={account.value?.id ?? ""} onGone={list.drop} />
      </div>
      <Listed
        list={list}
        workspaces={named}
        empty={
          <NoDevices onPair={() => setPairing(true)} onAll={isNarrowed ? showAll : undefined} />
        }
      />
      {(isPairing || isLinked) && (
        <PairDialog key={params.code} code={params.code ?? ""} onClose={close} />
      )}
    </ViewFrame>
  );
}

function PairButton({ onClick }: { onClick: () => void }): VNode {
  return (
    <div class="push">
      <button type="button" class="button primary" onClick={onClick}>
        <Plus size={17} aria-hidden="true" /> Pair a device
      </button>
    </div>
  );
}

interface NoDevicesProps {
  onPair: () => void;
  /** Given where the list was narrowed. */
  onAll: (() => void) | undefined;
}

function NoDevices({ onPair, onAll }: NoDevicesProps): VNode {
  if (onAll !== undefined) return <NothingFits title="No device fits" onAll={onAll} />;
  const ways = (
    <>
      <button type="button" class="button" onClick={onPair}>
        Pair a device
      </button>
      <Link class="button" href="/record">
        Record from this browser
      </Link>
    </>
  );
  return (
    <Empty title="No device yet" next={ways}>
      <p>
        A device records conversations and sends them here. It shows a code; with the code you pair
        it. This browser becomes a device by itself when you record with it.
      </p>
    </Empty>
  );
}

interface ListedProps {
  list: ReturnType<typeof useDevices>;
  workspaces: readonly Workspace[];
  empty: VNode;
}

function Listed({ list, workspaces, empty }: ListedProps): VNode {
  const people = usePeople(list.items);
  const recordings = useRecordings();
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  const placeOf = ({ workspace_id: id }: Device) => (id === undefined ? undefined : names.get(id));
  return (
    <PageList list={list} what="devices" label="Devices" empty={empty}>
      {(device) => (
        <DeviceRow
          device={device}
          workspace={placeOf(device)}
          people={people.get(device.workspace_id ?? "") ?? []}
          recording={recordings.get(device.id)}
          onChanged={list.put}
          onGone={() => list.drop(device.id)}
        />
      )}
    </PageList>
  );
}
