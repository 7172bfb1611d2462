import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import { useResource } from "../../../parts/resource.ts";
import { momentOf } from "../../../parts/times.ts";
import type { PartProps } from "./claim-part.tsx";

/** What the service knows of the voice, a name for it, and the labels that were merged into it. */
export function KnownPart({ model, label, carryOut }: PartProps): VNode {
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
  const suggested = (speaker?.suggestions ?? []).flatMap(({ display_name: found }) =>
    found === undefined ? [] : [found],
  );
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
      <Naming
        {...{ model, label, carryOut }}
        freeName={speaker?.free_name ?? ""}
        names={[...suggested, ...(listed?.suggested_names ?? [])]}
      />
      {model.mayEdit &&
        (speaker?.merged ?? []).map(({ label: from, into }) => (
          <button
            key={from}
            type="button"
            class="button quiet"
            onClick={() => carryOut(() => model.voices.setApart(from, into))}
          >
            {`Set Speaker ${from.slice(1)} apart again`}
          </button>
        ))}
    </>
  );
}

interface NamingProps extends PartProps {
  names: readonly string[];
  freeName: string;
}

function Naming({ model, label, carryOut, names, freeName }: NamingProps): VNode {
  const [name, setName] = useState("");
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const chosen = name.trim();
        if (chosen !== "") carryOut(() => model.voices.name(label, chosen));
      }}
    >
      <label class="field">
        <span>Call this voice</span>
        <input
          class="input"
          data-first
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
      <div class="row">
        <button type="submit" class="button" disabled={name.trim() === ""}>
          Save the name
        </button>
        {freeName !== "" && (
          <button
            type="button"
            class="button"
            onClick={() => carryOut(() => model.voices.name(label, ""))}
          >
            Take the name away
          </button>
        )}
      </div>
    </form>
  );
}
