import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useId } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Workspace } from "../api/records.ts";
import { Choice } from "../parts/fields.tsx";
import { useResource } from "../parts/resource.ts";
import { type LanguageChoice, languageName, languagesFor } from "./languages.ts";

/** What was chosen last, as long as the page is open. */
const chosen = signal("");

interface SpokenLanguage {
  /** What the workspace expects; "" while none is known. */
  readonly own: string;
  readonly choices: readonly LanguageChoice[];
  /** The one that was chosen; "" for what the workspace expects. */
  readonly language: string;
}

/** In which language people speak in what goes into the workspace next. */
export function useSpokenLanguage(workspace: Workspace | undefined): SpokenLanguage {
  // That the engines could not be asked for holds nothing up.
  const { state } = useResource(() => call((api) => api.GET("/engines")), []);
  const choices = languagesFor(state.kind === "ready" ? state.value.items : [], workspace);
  const language = choices.some(({ tag }) => tag === chosen.value) ? chosen.value : "";
  return { own: workspace?.preferred_language ?? "", choices, language };
}

interface LanguageProps {
  spoken: SpokenLanguage;
  /** Among the fields of a form, rather than beside a button. */
  isField?: boolean;
}

/** Chooses it; nothing where no other language can be read. */
export function LanguageField({ spoken, isField = false }: LanguageProps): VNode | null {
  const { own, choices, language } = spoken;
  const id = useId();
  if (choices.length === 0) return null;
  const expected = languageName(own);
  const said = (name: string) => (isField ? name : `Language: ${name}`);
  const choice = (
    <Choice
      id={id}
      class={isField ? "input" : "input filter"}
      aria-label={isField ? undefined : "Language of what is uploaded"}
      value={language}
      of={[
        { id: "", name: said(isField ? `${expected}, as in this workspace` : expected) },
        ...choices.map(({ tag, name }) => ({ id: tag, name: said(name) })),
      ]}
      onChoose={(tag) => {
        chosen.value = tag;
      }}
    />
  );
  if (!isField) return choice;
  return (
    <div class="field">
      <label for={id}>Language</label>
      {choice}
    </div>
  );
}
