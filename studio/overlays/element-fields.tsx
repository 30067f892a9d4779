import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { CodeField } from "./code-field.tsx";
import { KitFields } from "./kit-fields.tsx";
import {
  askedOf,
  type Element,
  type FieldsProps,
  type HtmlElement,
  type KitElement,
  POSITIONS,
  positionOf,
  type Template,
  typedValue,
  withValue,
} from "./model.ts";

/** Everything about one element of an overlay. */
export function ElementFields(props: FieldsProps<Element> & { templates: readonly Template[] }) {
  const { element, templates } = props;
  if (element.kind === "html") return <HtmlFields {...props} element={element} />;
  const template = element.kind === "kit" ? templates.find(({ name }) => name === element.template) : undefined;
  if (element.kind === "kit" && template) return <OfTemplate {...props} element={element} template={template} />;
  return (
    <p className="soft">
      {element.kind === "rive" ? "A Rive animation" : element.kind === "ograf" ? "An OGraf graphic" : "An element of an unknown template"},
      which is kept as it is. All of its fields are under “All fields”.
    </p>
  );
}

function HtmlFields(props: FieldsProps<HtmlElement>) {
  const { element, onChange, issues, isReadOnly } = props;
  return (
    <>
      <CodeField
        label="Markup"
        description="Shown in a sandboxed frame: no scripts run. Write {{name}} for what a broadcast fills in. Tab leaves the editor."
        value={element.html}
        onChange={(html) => onChange({ ...element, html })}
        error={issues.get("html")}
        isReadOnly={isReadOnly}
      />
      <Asked {...props} />
      <PositionField {...props} position={element.position} />
    </>
  );
}

function OfTemplate(props: FieldsProps<KitElement> & { template: Template }) {
  const { element, template } = props;
  return (
    <>
      <KitFields {...props} />
      <Asked {...props} />
      <PositionField {...props} position={element.position ?? template.position} />
    </>
  );
}

/** The variables that a broadcast fills in, and what they are unless it does. */
function Asked({ element, onChange, issues, isReadOnly }: FieldsProps<HtmlElement | KitElement>) {
  const asked = askedOf(element);
  if (asked.length === 0) return null;
  return (
    <fieldset className="overlay-group">
      <legend>Variables that a broadcast fills in</legend>
      {asked.map((name) => {
        const value = element.variables?.[name];
        return (
          <TextField
            key={name}
            label={name}
            description="Unless the broadcast gives another"
            value={value === undefined ? "" : String(value)}
            onChange={(text) => onChange({ ...element, variables: withValue(element.variables, name, typedValue(text, value)) })}
            error={issues.get(`variables.${name}`)}
            isReadOnly={isReadOnly}
          />
        );
      })}
    </fieldset>
  );
}

function PositionField({
  element,
  position,
  onChange,
  isReadOnly,
}: FieldsProps<HtmlElement | KitElement> & { position: keyof typeof POSITIONS }) {
  return (
    <Select
      label="Position"
      value={position}
      onChange={(value) => onChange({ ...element, position: positionOf(value) })}
      options={Object.entries(POSITIONS).map(([value, text]) => ({ value, text }))}
      isDisabled={isReadOnly}
    />
  );
}
