import { useState } from "react";
import { Select } from "#studio/ui/select.tsx";
import { Switch } from "#studio/ui/switch.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { type PageType, usePages } from "./queries.ts";
import { type Entry, type EntryType, NEW_FOLDER } from "./tree.ts";

interface Props {
  entry: Entry;
  /** What its page is called. */
  pageName: string | undefined;
  issues: ReadonlyMap<string, string>;
  isReadOnly: boolean;
  onChange: (change: Partial<Entry>) => void;
}

const TYPES: readonly { value: EntryType; text: string }[] = [
  { value: "folder", text: "Folder" },
  { value: "channel", text: "Channel" },
  { value: "landing", text: "Landing page" },
];

/** What an entry is, what it leads to, and who sees it. */
export function EntryFields({ entry, pageName, issues, isReadOnly, onChange }: Props) {
  const { type } = entry;
  return (
    <>
      <Select
        label="Leads to"
        value={type}
        options={TYPES}
        onChange={(value) =>
          onChange({
            type: TYPES.find((one) => one.value === value)?.value ?? "folder",
            pageId: "",
            // A page has a name of its own.
            ...(entry.name === NEW_FOLDER && { name: "" }),
          })
        }
        error={issues.get("type") ?? issues.get("")}
        isDisabled={isReadOnly}
      />
      {type !== "folder" && (
        <PagePicker
          key={type}
          type={type}
          value={entry.pageId}
          name={pageName}
          onChange={(pageId) => onChange({ pageId })}
          error={issues.get("pageId")}
          isReadOnly={isReadOnly}
        />
      )}
      <TextField
        label="Shown as"
        value={entry.name}
        onChange={(name) => onChange({ name })}
        maxLength={200}
        error={issues.get("name")}
        isReadOnly={isReadOnly}
        {...(type !== "folder" && { description: "Leave it empty to show the page’s own name." })}
      />
      <Switch
        label="Private"
        isSelected={entry.private}
        onChange={(isPrivate) => onChange({ private: isPrivate })}
        isDisabled={isReadOnly}
        description="Only admins see it, with everything below it, and viewers who may open its page."
      />
    </>
  );
}

interface PickerProps {
  type: PageType;
  value: string;
  name: string | undefined;
  onChange: (pageId: string) => void;
  error: string | undefined;
  isReadOnly: boolean;
}

function PagePicker({ type, value, name, onChange, error, isReadOnly }: PickerProps) {
  const [search, setSearch] = useState("");
  const list = usePages(type, search.trim());
  const pages = list.data?.pages ?? [];
  // The chosen one stays in the list, also if the search doesn't find it.
  const options = pages.some(({ id }) => id === value) || value === "" ? pages : [{ id: value, name: name ?? value }, ...pages];
  const isLong = search !== "" || (list.data?.total ?? 0) > pages.length;
  const noun = type === "channel" ? "channel" : "landing page";
  return (
    <>
      {isLong && <TextField label={`Find a ${noun}`} type="search" value={search} onChange={setSearch} maxLength={100} />}
      <Select
        label="Page"
        value={value}
        empty={list.data?.total === 0 && search === "" ? `The site has no ${noun} yet` : `Choose a ${noun}`}
        options={options.map((page) => ({ value: page.id, text: page.name }))}
        onChange={onChange}
        error={error}
        isDisabled={isReadOnly}
      />
    </>
  );
}
