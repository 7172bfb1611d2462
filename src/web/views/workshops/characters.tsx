import { Pencil, Plus, Trash2, UserRound } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Character } from "../../api/records.ts";
import { useDeed } from "../../parts/deed.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordRow } from "../../parts/record-row.tsx";
import { Empty } from "../../parts/states.tsx";
import { attempt } from "../../parts/toasts.tsx";
import { NameFields, namesOf } from "./name-fields.tsx";

const PAGE = 100;

/** The characters of a workshop: whose names its sessions expect. */
export function Characters({ workshopId }: { workshopId: string }): VNode {
  const [isAdding, setAdding] = useState(false);
  const path = { workshop_id: workshopId };
  const list = usePages(
    (cursor) => {
      const query = { limit: PAGE, cursor };
      return call((api) =>
        api.GET("/workshops/{workshop_id}/characters", { params: { path, query } }),
      );
    },
    [workshopId],
  );
  const add = async (fields: FormData) => {
    const params = { path };
    const body = { ...namesOf(fields), is_active: fields.get("is_active") !== null };
    list.put(
      await call((api) => api.POST("/workshops/{workshop_id}/characters", { params, body })),
    );
  };
  const addFirst = (
    <button type="button" class="button" onClick={() => setAdding(true)}>
      Add the first character
    </button>
  );
  return (
    <section class="stack" aria-labelledby="characters">
      <div class="row">
        <h2 id="characters">Characters</h2>
        <button type="button" class="button push" onClick={() => setAdding(true)}>
          <Plus size={17} aria-hidden="true" /> Add a character
        </button>
      </div>
      <PageList
        list={list}
        what="characters"
        lines={3}
        label="Characters"
        empty={
          <Empty title="No character yet" next={addFirst}>
            <p>
              Roles of a play, people of a project, names of a game: whoever is spoken of by name.
            </p>
          </Empty>
        }
      >
        {(each) => (
          <CharacterRow character={each} onChanged={list.put} onGone={() => list.drop(each.id)} />
        )}
      </PageList>
      {isAdding && (
        <FormDialog
          title="Add a character"
          submit="Add"
          onSubmit={add}
          onClose={() => setAdding(false)}
        >
          <NameFields />
          <Active />
        </FormDialog>
      )}
    </section>
  );
}

function Active({ character }: { character?: Character }): VNode {
  return (
    <label class="check">
      <input type="checkbox" name="is_active" defaultChecked={character?.is_active ?? true} />
      Active: sessions expect the name
    </label>
  );
}

interface CharacterRowProps {
  character: Character;
  onChanged: (character: Character) => void;
  onGone: () => void;
}

function CharacterRow({ character, onChanged, onGone }: CharacterRowProps): VNode {
  const [opened, open] = useState<"edit" | "remove" | undefined>();
  const { name, description } = character;
  const path = { workshop_id: character.workshop_id, character_id: character.id };
  const close = () => open(undefined);
  const save = async (fields: FormData) => {
    const wanted = { ...namesOf(fields), is_active: fields.get("is_active") !== null };
    onChanged(await replace(character, wanted));
  };
  const remove = async () => {
    await call((api) =>
      api.DELETE("/workshops/{workshop_id}/characters/{character_id}", { params: { path } }),
    );
    onGone();
  };
  return (
    <RecordRow
      icon={<UserRound size={20} aria-hidden="true" />}
      title={name}
      facts={[]}
      actions={
        <>
          <Toggle character={character} onChanged={onChanged} />
          <button
            type="button"
            class="button quiet icon"
            aria-label={`Change ${name}`}
            onClick={() => open("edit")}
          >
            <Pencil size={16} aria-hidden="true" />
          </button>
          <button
            type="button"
            class="button quiet icon"
            aria-label={`Remove ${name}`}
            onClick={() => open("remove")}
          >
            <Trash2 size={16} aria-hidden="true" />
          </button>
        </>
      }
    >
      {description !== "" && <p class="small soft">{description}</p>}
      {opened === "edit" && (
        <FormDialog title="Change the character" submit="Save" onSubmit={save} onClose={close}>
          <NameFields named={character} />
          <Active character={character} />
        </FormDialog>
      )}
      {opened === "remove" && (
        <FormDialog
          title="Remove the character?"
          submit={`Remove “${name}”`}
          cancel="Keep it"
          isEnd
          onSubmit={remove}
          onClose={close}
        >
          <p>Sessions expect the name no more. Voices that bear it keep it.</p>
        </FormDialog>
      )}
    </RecordRow>
  );
}

interface Wanted {
  readonly name: string;
  readonly description?: string;
  readonly is_active?: boolean;
}

function replace({ id, workshop_id: workshopId }: Character, body: Wanted): Promise<Character> {
  const params = { path: { workshop_id: workshopId, character_id: id } };
  return call((api) =>
    api.PUT("/workshops/{workshop_id}/characters/{character_id}", { params, body }),
  );
}

interface ToggleProps {
  character: Character;
  onChanged: (character: Character) => void;
}

function Toggle({ character, onChanged }: ToggleProps): VNode {
  const { name, is_active: isActive } = character;
  const { isBusy, run } = useDeed();
  /** What was asked for, until the service has said so. */
  const [wanted, setWanted] = useState<boolean | undefined>();
  const turn = (active: boolean) =>
    run(async () => {
      setWanted(active);
      await attempt(async () => onChanged(await replace(character, { name, is_active: active })));
      setWanted(undefined);
    });
  return (
    <label class="check small">
      <input
        type="checkbox"
        aria-label={`${name} is active`}
        aria-disabled={isBusy}
        checked={wanted ?? isActive}
        onChange={({ currentTarget }) => void turn(currentTarget.checked)}
      />
      <span aria-hidden="true">Active</span>
    </label>
  );
}
