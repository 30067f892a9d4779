import { type ComponentProps, type ReactNode, type Ref, useEffect, useState } from "react";
import { referenceByChoice, type ReferenceKind } from "#studio/api/references.ts";
import { Button } from "#studio/ui/button.tsx";
import { Select, unlisted } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { REFERENCES, useReferences } from "./reference-options.ts";

interface Props {
  label: string;
  description?: ReactNode;
  error?: string | undefined;
  to: ReferenceKind;
  /** An id or SKU; several are one a line. */
  value: string;
  onChange: (value: string) => void;
  onBlur: () => void;
  isDisabled: boolean;
}

/** Something of the site, chosen by its name. Where the list can't be read, its id can still be typed. */
export function ReferenceInput({
  to,
  isRequired,
  selectRef,
  ...props
}: Props & { isRequired: boolean; selectRef: Ref<HTMLSelectElement> }) {
  const [search, setSearch] = useState("");
  const found = useReferences(to, search);
  if (found.isError)
    return <TextField {...props} isRequired={isRequired} description={`The list can’t be read: enter the ${REFERENCES[to].one}’s id.`} />;
  const options = found.data?.options ?? [];
  return (
    <div className="reference">
      <Select
        {...props}
        selectRef={selectRef}
        isRequired={isRequired}
        empty={isRequired ? "Choose…" : "–"}
        options={options}
        isLoading={found.isPending}
      />
      <Find
        to={to}
        isShown={found.data?.hasMore === true || search !== ""}
        value={search}
        onChange={setSearch}
        isDisabled={props.isDisabled}
      />
    </div>
  );
}

/** Something of the kind that the choice beside it says. What has no list is still known by its id. */
export function ChosenReferenceInput({ choice, ...props }: Omit<ComponentProps<typeof ReferenceInput>, "to"> & { choice: string }) {
  const to = referenceByChoice(choice);
  const { value, onChange } = props;
  const [shown, setShown] = useState(choice);
  // Of another kind, nothing has this id.
  useEffect(() => {
    if (choice === shown) return;
    setShown(choice);
    if (value !== "") onChange("");
  }, [choice, shown, value, onChange]);
  if (choice === "") return null;
  if (to) return <ReferenceInput key={to} {...props} to={to} label={sentenceCase(REFERENCES[to].one)} />;
  const { label, description, error, onBlur, isDisabled } = props;
  return <TextField {...{ label, description, error, value, onChange, onBlur, isDisabled }} />;
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Several things of the site, in order. */
export function ReferencesInput({ label, description, error, to, value, onChange, onBlur, isDisabled }: Props) {
  const [search, setSearch] = useState("");
  const found = useReferences(to, search);
  const { one } = REFERENCES[to];
  const chosen = value.split("\n").filter((line) => line.trim() !== "");
  const set = (values: readonly string[]): void => onChange(values.join("\n"));
  if (found.isError)
    return (
      <TextField
        {...{ label, error, value, onChange, onBlur, isDisabled }}
        rows={3}
        description={`The list can’t be read: enter the ids, one a line.`}
      />
    );
  const options = found.data?.options ?? [];
  const textOf = (id: string) => options.find((option) => option.value === id)?.text ?? unlisted(id, found.isPending);
  return (
    <fieldset className="field-group">
      <legend>{label}</legend>
      {description !== undefined && <p className="field-description">{description}</p>}
      {chosen.length > 0 && (
        <ol className="reference-list">
          {chosen.map((id, index) => (
            <li key={id}>
              <span className="reference-name">{textOf(id)}</span>
              <Button
                size="small"
                look="quiet"
                aria-label={`Move ${textOf(id)} up`}
                isDisabled={isDisabled || index === 0}
                onPress={() => set(chosen.with(index, chosen[index - 1] ?? id).with(index - 1, id))}
              >
                Up
              </Button>
              <Button
                size="small"
                look="quiet"
                aria-label={`Remove ${textOf(id)}`}
                isDisabled={isDisabled}
                onPress={() => set(chosen.filter((other) => other !== id))}
              >
                Remove
              </Button>
            </li>
          ))}
        </ol>
      )}
      <Select
        label={`Add a ${one}`.replace(/^Add a (?=[aeo])/, "Add an ")}
        value=""
        error={error}
        isDisabled={isDisabled}
        onBlur={onBlur}
        onChange={(id) => id !== "" && set([...chosen, id])}
        options={[
          { value: "", text: options.length === 0 && !found.isPending ? "There are none" : "Choose…" },
          ...options.filter((option) => !chosen.includes(option.value)),
        ]}
      />
      <Find to={to} isShown={found.data?.hasMore === true || search !== ""} value={search} onChange={setSearch} isDisabled={isDisabled} />
    </fieldset>
  );
}

interface FindProps {
  to: ReferenceKind;
  isShown: boolean;
  value: string;
  onChange: (text: string) => void;
  isDisabled: boolean;
}

/** Finds what is beyond the first hundred. */
function Find({ to, isShown, value, onChange, isDisabled }: FindProps) {
  if (!isShown || isDisabled) return null;
  return <TextField label={`Find by name (${REFERENCES[to].one})`} type="search" value={value} onChange={onChange} maxLength={100} />;
}
