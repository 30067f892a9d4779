import { ImageField } from "#studio/overlays/image-field.tsx";
import { ColorField } from "#studio/ui/color-field.tsx";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { contrastWarnings, type Draft, MAIN_COLORS, MORE_COLORS } from "./model.ts";

interface Props {
  draft: Draft;
  onChange: (draft: Draft) => void;
  issues: ReadonlyMap<string, string>;
  isReadOnly: boolean;
}

const MODES = [
  { value: "dark", text: "Dark" },
  { value: "light", text: "Light" },
] as const;
const CORNERS = [
  { value: "rounded", text: "Rounded" },
  { value: "square", text: "Square" },
  { value: "pill", text: "Pill" },
] as const;
const CAPITALS = [
  { value: "original", text: "As written" },
  { value: "uppercase", text: "All capitals" },
  { value: "lowercase", text: "All small" },
] as const;
const FONTS = "What the viewer’s device or your page has, in order of preference: Inter, system-ui, sans-serif";

export function ThemeFields(props: Props) {
  const { draft, onChange, issues, isReadOnly } = props;
  const font = (part: "headline" | "body", label: string) => (
    <TextField
      label={label}
      description={part === "headline" ? FONTS : undefined}
      value={draft.typography[part]}
      onChange={(family) => onChange({ ...draft, typography: { ...draft.typography, [part]: family } })}
      maxLength={200}
      error={issues.get(`typography.${part}`)}
      isReadOnly={isReadOnly}
    />
  );
  const image = (part: "logo" | "icon", label: string) => (
    <ImageField
      label={label}
      value={draft[part]}
      onChange={(url) => onChange({ ...draft, [part]: url })}
      error={issues.get(part)}
      isReadOnly={isReadOnly}
    />
  );
  return (
    <div className="overlay-fields">
      <section className="card overlay-card" aria-label="Theme">
        <TextField
          label="Name"
          value={draft.name}
          onChange={(name) => onChange({ ...draft, name })}
          maxLength={100}
          error={issues.get("name")}
          isReadOnly={isReadOnly}
        />
        <Choice label="Look" value={draft.mode} options={MODES} onChange={(mode) => onChange({ ...draft, mode })} isReadOnly={isReadOnly} />
      </section>
      <section className="card overlay-card" aria-labelledby="theme-colors">
        <h2 id="theme-colors">Colours</h2>
        <Colors {...props} roles={MAIN_COLORS} />
        <details className="theme-more">
          <summary>More colours</summary>
          <Colors {...props} roles={MORE_COLORS} />
        </details>
      </section>
      <section className="card overlay-card" aria-labelledby="theme-text">
        <h2 id="theme-text">Text and buttons</h2>
        {font("headline", "Font of headlines")}
        {font("body", "Font of text")}
        <div className="theme-grid">
          <Choice
            label="Corners of buttons"
            value={draft.button.borderRadius}
            options={CORNERS}
            onChange={(borderRadius) => onChange({ ...draft, button: { ...draft.button, borderRadius } })}
            isReadOnly={isReadOnly}
          />
          <Choice
            label="Letters of buttons"
            value={draft.button.textCapitalization}
            options={CAPITALS}
            onChange={(textCapitalization) => onChange({ ...draft, button: { ...draft.button, textCapitalization } })}
            isReadOnly={isReadOnly}
          />
        </div>
      </section>
      <section className="card overlay-card" aria-labelledby="theme-images">
        <h2 id="theme-images">Images</h2>
        {image("logo", "Logo")}
        {image("icon", "Icon")}
        <TextField
          label="Backgrounds"
          description="One address a line, at most 20"
          rows={3}
          value={draft.backgrounds.join("\n")}
          onChange={(text) => onChange({ ...draft, backgrounds: text === "" ? [] : text.split("\n") })}
          error={issues.get("backgrounds") ?? [...issues].find(([path]) => path.startsWith("backgrounds."))?.[1]}
          isReadOnly={isReadOnly}
        />
      </section>
    </div>
  );
}

function Colors({ draft, onChange, issues, isReadOnly, roles }: Props & { roles: typeof MAIN_COLORS }) {
  const warnings = contrastWarnings(draft.colors);
  return (
    <div className="theme-grid">
      {roles.map(({ role, label, sample }) => (
        <div key={role} className="theme-color">
          <ColorField
            label={label}
            value={draft.colors[role] ?? ""}
            placeholder={sample}
            onChange={(color) => onChange({ ...draft, colors: { ...draft.colors, [role]: color } })}
            error={issues.get(`colors.${role}`)}
            isReadOnly={isReadOnly}
          />
          {warnings.has(role) && (
            <p className="theme-warning" role="status">
              {warnings.get(role)}
            </p>
          )}
        </div>
      ))}
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; text: string }[];
  onChange: (value: Value) => void;
  isReadOnly: boolean;
}

function Choice<Value extends string>({ options, onChange, isReadOnly, ...props }: ChoiceProps<Value>) {
  const choose = (text: string): void => {
    const chosen = options.find(({ value }) => value === text);
    if (chosen) onChange(chosen.value);
  };
  return <Select {...props} options={options} onChange={choose} isDisabled={isReadOnly} />;
}
