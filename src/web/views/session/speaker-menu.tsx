import { Check, UserCheck, UserRound, UsersRound } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { call, messageOf } from "../../api/client.ts";
import { Menu } from "../../parts/menu.tsx";
import { useResource } from "../../parts/resource.ts";
import { momentOf } from "../../parts/times.ts";
import { tell } from "../../parts/toasts.tsx";
import type { SessionModel } from "./model/session-model.ts";
import type { Line } from "./model/transcript-state.ts";

interface SpeakerMenuProps {
  model: SessionModel;
  /** A line of the speaker: for it alone another speaker can be chosen. */
  line: Line;
}

/** A speaker's name; a press on it offers to claim, name, assign, merge or correct it. */
export function SpeakerMenu({ model, line }: SpeakerMenuProps): VNode {
  const label = line.speaker;
  const name = model.nameOf(label);
  const claimant = model.claimedBy(label);
  const isMine = claimant !== undefined && claimant === account.value?.id;
  const isOthers = model.isOwner && claimant !== undefined && !isMine;
  const button = (
    <>
      <span>{line.isGuess ? `${name}?` : name}</span>
      {isMine && <Check size={13} aria-label="you" />}
    </>
  );
  if (label === "UU" && !model.mayEdit) return <span class="speaker">{button}</span>;
  return (
    <Menu
      label={`${name}${line.isGuess ? ", a guess" : ""}: who is this?`}
      class="speaker"
      side="start"
      button={button}
    >
      {(close) => (
        <>
          {label !== "UU" && (
            <Claim
              model={model}
              label={label}
              claimedBy={isMine ? "me" : isOthers ? "other" : undefined}
              close={close}
            />
          )}
          {model.mayEdit && label !== "UU" && <Known model={model} label={label} close={close} />}
          {model.isOwner && label !== "UU" && (
            <Assigning model={model} label={label} close={close} />
          )}
          {model.mayEdit && <Moving model={model} line={line} close={close} />}
        </>
      )}
    </Menu>
  );
}

interface PartProps {
  model: SessionModel;
  label: string;
  close: () => void;
}

/** Does it, says what went wrong, and closes the menu when it worked. */
async function carryOut(deed: () => Promise<unknown>, said: string, close: () => void) {
  try {
    await deed();
    tell(said);
    close();
  } catch (error) {
    tell(messageOf(error));
  }
}

interface ClaimProps extends PartProps {
  /** `other`: somebody else, whose claim the session's owner may take back. */
  claimedBy: "me" | "other" | undefined;
}

function Claim({ model, label, claimedBy, close }: ClaimProps): VNode {
  const path = { session_id: model.id };
  const claim = () =>
    call((api) =>
      api.POST("/sessions/{session_id}/speaker-claims", {
        params: { path },
        body: { speaker_label: label, source: "self_claim" },
      }),
    );
  const unclaim = () =>
    call((api) =>
      api.DELETE("/sessions/{session_id}/speaker-claims/{label}", {
        params: { path: { ...path, label } },
      }),
    );
  return claimedBy !== undefined ? (
    <button
      type="button"
      class="button quiet"
      onClick={() => void carryOut(unclaim, "The claim is taken back.", close)}
    >
      <UserRound size={16} aria-hidden="true" />
      {claimedBy === "me" ? "This is not me" : "This is not theirs"}
    </button>
  ) : (
    <button
      type="button"
      class="button quiet"
      onClick={() => void carryOut(claim, "This voice is yours.", close)}
    >
      <UserCheck size={16} aria-hidden="true" /> This is me
    </button>
  );
}

/** What the service knows of the voice, and a name for it. */
function Known({ model, label, close }: PartProps): VNode {
  const { state } = useResource(
    () =>
      call((api) =>
        api.GET("/sessions/{session_id}/speakers", {
          params: { path: { session_id: model.id } },
        }),
      ),
    [model, label],
  );
  const listed = state.kind === "ready" ? state.value : undefined;
  const speaker = listed?.items.find((each) => each.speaker_label === label);
  const since = speaker?.voice_remembered_at;
  const names = [
    ...(speaker?.suggestions ?? []).flatMap(({ display_name: found }) =>
      found === undefined ? [] : [found],
    ),
    ...(listed?.suggested_names ?? []),
  ];
  return (
    <>
      {speaker?.contested === true && (
        <p class="soft small">Somebody else has said that this voice is theirs.</p>
      )}
      {since !== undefined && (
        <p class="soft small">
          They had their voice remembered of it: {momentOf(since)}. When the claim ends it is
          forgotten.
        </p>
      )}
      <Naming model={model} label={label} close={close} names={names} />
    </>
  );
}

function Naming({ model, label, close, names }: PartProps & { names: readonly string[] }): VNode {
  const [name, setName] = useState("");
  const save = (chosen: string) =>
    call((api) =>
      api.PATCH("/sessions/{session_id}/speakers/{label}", {
        params: { path: { session_id: model.id, label } },
        body: { display_name: chosen === "" ? null : chosen },
      }),
    );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void carryOut(() => save(name.trim()), "The speaker has a name.", close);
      }}
    >
      <label class="field">
        <span>Call this voice</span>
        <input
          class="input"
          value={name}
          list={`names-${label}`}
          placeholder={model.nameOf(label)}
          maxLength={80}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <datalist id={`names-${label}`}>
          {[...new Set(names)].slice(0, 12).map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      </label>
      <button type="submit" class="button">
        {name.trim() === "" ? "Take the name away" : "Save the name"}
      </button>
    </form>
  );
}

function Assigning({ model, label, close }: PartProps): VNode {
  const workspaceId = model.session.value?.workspace_id ?? "";
  const { state } = useResource(
    () =>
      call((api) =>
        api.GET("/workspaces/{id}/members", {
          params: { path: { id: workspaceId }, query: { limit: 100 } },
        }),
      ),
    [workspaceId],
  );
  const people = state.kind === "ready" ? state.value.items : [];
  const assign = (userId: string) =>
    call((api) =>
      api.POST("/sessions/{session_id}/speaker-claims", {
        params: { path: { session_id: model.id } },
        body: {
          speaker_label: label,
          source: "moderator_assignment",
          assigned_user_id: userId,
        } as { speaker_label: string; source: "moderator_assignment" },
      }),
    );
  return (
    <p class="stack">
      <label class="field">
        <span>It is the voice of</span>
        <select
          class="input"
          value=""
          onChange={({ currentTarget }) => {
            const { value } = currentTarget;
            if (value !== "") void carryOut(() => assign(value), "The voice is assigned.", close);
          }}
        >
          <option value="">a member …</option>
          {people.map(({ user_id: id, name, email }) => (
            <option key={id} value={id}>
              {name || email}
            </option>
          ))}
        </select>
      </label>
    </p>
  );
}

function Moving({ model, line, close }: { model: SessionModel; line: Line; close: () => void }) {
  const others = model.speakers.value.filter((each) => each !== line.speaker);
  const merge = (into: string) =>
    call((api) =>
      api.POST("/sessions/{session_id}/speakers/merge", {
        params: { path: { session_id: model.id } },
        body: { from: line.speaker, into },
      }),
    );
  const move = (speaker: string) => model.editing.change(line, { speaker });
  if (others.length === 0) return null;
  const options = others.map((each) => (
    <option key={each} value={each}>
      {model.nameOf(each)}
    </option>
  ));
  return (
    <p class="stack">
      <label class="field">
        <span>This line was said by</span>
        <select
          class="input"
          value=""
          onChange={({ currentTarget }) => {
            const { value } = currentTarget;
            if (value !== "") void carryOut(() => move(value), "The line is moved.", close);
          }}
        >
          <option value="">somebody else …</option>
          {options}
        </select>
      </label>
      {line.speaker !== "UU" && (
        <label class="field">
          <span>
            <UsersRound size={13} aria-hidden="true" /> The whole voice is the same as
          </span>
          <select
            class="input"
            value=""
            onChange={({ currentTarget }) => {
              const { value } = currentTarget;
              if (value !== "") void carryOut(() => merge(value), "The voices are one.", close);
            }}
          >
            <option value="">another …</option>
            {options}
          </select>
        </label>
      )}
    </p>
  );
}
