import type { VNode } from "preact";
import { NameField } from "../../parts/fields.tsx";

interface Named {
  readonly name: string;
  readonly description: string;
}

/** The fields of a form for a workshop or a character, with what it says now. */
export function NameFields({ named }: { named?: Named }): VNode {
  return (
    <>
      <NameField defaultValue={named?.name} />
      <label class="field">
        <span>Description</span>
        <textarea
          class="input"
          name="description"
          maxLength={4_000}
          defaultValue={named?.description}
        />
      </label>
    </>
  );
}

/** What a filled form says. */
export function namesOf(fields: FormData): Named {
  return {
    name: String(fields.get("name")).trim(),
    description: String(fields.get("description")).trim(),
  };
}
