import type { InputHTMLAttributes, SelectHTMLAttributes, VNode } from "preact";
import { useId } from "preact/hooks";

interface TextFieldProps extends InputHTMLAttributes {
  /** Stands above the field. */
  label: string;
}

/** A field for a line of text, or a date. */
export function TextField({ label, ...field }: TextFieldProps): VNode {
  return (
    <label class="field">
      <span>{label}</span>
      <input class="input" {...field} />
    </label>
  );
}

/** The name that somebody gives a thing: some text, of 200 letters at most. */
export function NameField({ label = "Name", ...field }: Partial<TextFieldProps>): VNode {
  return (
    <TextField label={label} name="name" required pattern=".*\S.*" maxLength={200} {...field} />
  );
}

interface Named<T extends string | number = string> {
  readonly id: T;
  readonly name: string;
}

interface ChoiceProps<T extends string | number>
  extends Pick<
    SelectHTMLAttributes,
    "id" | "name" | "class" | "aria-label" | "aria-disabled" | "disabled"
  > {
  /** Stands above the field. */
  label?: string | undefined;
  value: T | undefined;
  of: readonly Named<T>[];
  onChoose: (id: T) => void;
}

/** A field to choose one of a few things. */
export function Choice<T extends string | number>(props: ChoiceProps<T>): VNode {
  const { label, of, onChoose, ...field } = props;
  const ownId = useId();
  const choose = ({ selectedIndex }: HTMLSelectElement) => {
    const chosen = of[selectedIndex];
    if (chosen) onChoose(chosen.id);
  };
  const select = (
    <select
      id={ownId}
      class="input"
      {...field}
      onChange={({ currentTarget }) => choose(currentTarget)}
    >
      <Options of={of} />
    </select>
  );
  if (label === undefined) return select;
  return (
    <label class="field" for={ownId}>
      <span>{label}</span>
      {select}
    </label>
  );
}

interface OptionsProps {
  of: readonly Named<string | number>[];
  chosen?: string | number | undefined;
}

/** What can be chosen in a field of a form that is read when it is sent. */
export function Options({ of, chosen }: OptionsProps): VNode {
  return (
    <>
      {of.map(({ id, name }) => (
        <option key={id} value={id} selected={id === chosen}>
          {name}
        </option>
      ))}
    </>
  );
}

/** Words that are shown as they are. */
export function named<T extends string>(words: readonly T[]): Named<T>[] {
  return words.map((each) => ({ id: each, name: each }));
}
