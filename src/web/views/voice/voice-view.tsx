import { Fingerprint } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { VoiceList, Workspace } from "../../api/records.ts";
import { RecordList } from "../../parts/record-row.tsx";
import { useResource } from "../../parts/resource.ts";
import { Awaited, Empty } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { useWorkspaces } from "../../parts/workspaces.tsx";
import { GiveVoiceDialog } from "./give-voice-dialog.tsx";
import { LapsedRow, VoiceRow } from "./voice-row.tsx";

/** What is remembered of the person's own voice, where and since when; they give, renew and forget it. */
export function View(): VNode {
  const workspaces = useWorkspaces();
  const { state, reload } = useResource(() => call((api) => api.GET("/users/me/voice")), []);
  const [isGiving, setGiving] = useState(false);
  const named = workspaces.state.kind === "ready" ? workspaces.state.value : [];
  const give = (look: string) => (
    <button type="button" class={look} onClick={() => setGiving(true)}>
      <Fingerprint size={17} aria-hidden="true" /> Have my voice remembered
    </button>
  );
  const isEmpty = state.kind === "ready" && isNothing(state.value);
  return (
    <ViewFrame
      title="Your voice"
      head={!isEmpty && <div class="push">{give("button primary")}</div>}
    >
      <p class="soft lead">
        Where you agree, a workspace remembers a print of your voice and suggests your name for
        voices like it. Nobody can hear or read the print, and no other workspace compares with it.
      </p>
      <Awaited of={{ state, reload }} what="your voice" lines={3} />
      {isEmpty && (
        <Empty title="Nothing is remembered of your voice" next={give("button")}>
          <p>It takes 10 s of your speech in a session.</p>
        </Empty>
      )}
      {state.kind === "ready" && !isEmpty && (
        <Voices voices={state.value} workspaces={named} onChanged={reload} />
      )}
      {isGiving && <GiveVoiceDialog onGiven={reload} onClose={() => setGiving(false)} />}
    </ViewFrame>
  );
}

function isNothing({ items, lapsed }: VoiceList): boolean {
  return items.length + lapsed.length === 0;
}

interface VoicesProps {
  voices: VoiceList;
  workspaces: readonly Workspace[];
  onChanged: () => void;
}

function Voices({ voices: { items, lapsed }, workspaces, onChanged }: VoicesProps): VNode {
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? "A workspace";
  return (
    <RecordList label="Where your voice is remembered">
      {lapsed.map((voice) => (
        <LapsedRow
          key={voice.workspace_id}
          voice={voice}
          workspace={nameOf(voice.workspace_id)}
          onChanged={onChanged}
        />
      ))}
      {items.map((voice) => (
        <VoiceRow
          key={voice.workspace_id}
          voice={voice}
          workspace={nameOf(voice.workspace_id)}
          onChanged={onChanged}
        />
      ))}
    </RecordList>
  );
}
