import type { OverlayShow } from "#sdk/channel/protocol.ts";
import type { Schemas, TifoClient } from "#sdk/client/index.ts";
import { type Loaded as LoadedItem, loaded } from "#sdk/client/latest.ts";
import { fillVariables, renderVariables, soleVariable, variablesOf } from "#worker/lib/handlebars/template.ts";

export type Overlay = Schemas["Overlay"];
export type OverlayInput = Schemas["OverlayInput"];
export type Element = Schemas["OverlayContentInput"];
export type HtmlElement = Extract<Element, { kind: "html" }>;
export type KitElement = Extract<Element, { kind: "kit" }>;
export type Template = Schemas["KitTemplate"];
export type Theme = Schemas["Theme"];
export type Position = Template["position"];
export type Value = string | number | boolean;
export type Values = Record<string, Value>;
export type ShownElement = OverlayShow["contents"][number];

/** What the editor changes of an overlay. */
export type Draft = Omit<OverlayInput, "siteId" | "cta">;

export const POSITIONS: Record<Position, string> = {
  topLeft: "Top left",
  topCenter: "Top",
  topRight: "Top right",
  centerLeft: "Left",
  center: "Centre",
  centerRight: "Right",
  bottomLeft: "Bottom left",
  bottomCenter: "Bottom",
  bottomRight: "Bottom right",
};

const MAX_HTML = 200_000;

export function positionOf(text: string): Position {
  return positionNames().find((name) => name === text) ?? "center";
}

function positionNames(): Position[] {
  return [
    ...(["topLeft", "topCenter", "topRight", "centerLeft", "center", "centerRight"] as const),
    "bottomLeft",
    "bottomCenter",
    "bottomRight",
  ];
}

const START_HTML = `<div style="padding: 1em; border-radius: 0.5em; background: #0b0b12; color: #fff">
  <b>{{headline}}</b><br />
  {{text}}
</div>`;

/** A new overlay of a template, with its sample values, or of html. */
export function newDraft(template: Template | null): Draft {
  const common = { description: template?.description ?? "", type: "template" as const, duration: 8 };
  if (template) return { ...common, name: template.title, contents: [newElement(template)] };
  return { ...common, name: "New overlay", contents: [newElement(null)] };
}

export function newElement(template: Template | null): Element {
  if (template) return { kind: "kit", template: template.name, position: template.position, variables: { ...template.sample } };
  return { kind: "html", html: START_HTML, position: "bottomCenter", variables: { headline: "Half-time", text: "Back in 15 minutes" } };
}

export function draftOf({ name, description, type, duration, contents }: Overlay): Draft {
  return { name, description, type, duration, contents };
}

/** The variables that a broadcast is asked for: what the element's text names in braces, each once. */
export function askedOf(element: Element): string[] {
  if (element.kind === "html") return variablesOf(element.html);
  if (element.kind !== "kit") return [];
  return [...new Set(Object.values(element.variables ?? {}).flatMap((value) => (typeof value === "string" ? variablesOf(value) : [])))];
}

/** A value as somebody has typed it, of the type that it had. */
export function typedValue(text: string, before: Value | undefined): Value {
  return typeof before === "number" && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Changes a value; an empty one is left out, as the API does. */
export function withValue(values: Values | undefined, name: string, value: Value): Values {
  const others = Object.fromEntries(Object.entries(values ?? {}).filter(([other]) => other !== name));
  return value === "" ? others : { ...others, [name]: value };
}

/** What viewers would see of an element with its own values; null for what the preview can't show. */
export function shownElement(element: Element, templates: readonly Template[], key: string): ShownElement | null {
  if (element.kind === "html") {
    const html = renderVariables(element.html, element.variables ?? {}, MAX_HTML);
    return html === null ? null : { kind: "html", html, position: element.position };
  }
  const template = element.kind === "kit" ? templates.find(({ name }) => name === element.template) : undefined;
  if (element.kind !== "kit" || !template) return null;
  const shown = { kind: "kit" as const, key, template: template.name, position: element.position ?? template.position };
  const variables = { ...requiredSample(template), ...filled(element.variables ?? {}) };
  const candidate = { ...shown, variables };
  return isShown(candidate, template) ? candidate : null;
}

function filled(values: Values): Values {
  const known = new Map(Object.entries(values).filter(([, value]) => typeof value !== "string" || variablesOf(value).length === 0));
  const all = Object.entries(values).map(([name, value]): [string, Value] => {
    if (typeof value !== "string") return [name, value];
    const sole = soleVariable(value);
    return [name, (sole === undefined ? undefined : known.get(sole)) ?? fillVariables(value, known, 10_000)];
  });
  return Object.fromEntries(all.filter(([, value]) => value !== ""));
}

/** While something that the template requires is missing, the preview shows its sample. */
function requiredSample(template: Template): Values {
  return Object.fromEntries(Object.entries(template.sample).filter(([name]) => requiredOf(template).includes(name)));
}

interface Candidate {
  kind: "kit";
  key: string;
  template: Template["name"];
  position: Position;
  variables: Values;
}

function isShown(element: Candidate, template: Template): element is Candidate & Extract<ShownElement, { kind: "kit" }> {
  return requiredOf(template).every((name) => Object.hasOwn(element.variables, name));
}

export function requiredOf({ variables }: Template): string[] {
  const { required } = variables;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

export type Loaded = LoadedItem<Overlay>;

export function readOverlay({ api }: TifoClient, id: string): Promise<Loaded> {
  return loaded(api.GET("/overlay/v1/{id}", { params: { path: { id } } }));
}

export interface FieldsProps<Kind extends Element> {
  element: Kind;
  onChange: (element: Element) => void;
  /** What the server objects to, by the path within the element. */
  issues: ReadonlyMap<string, string>;
  isReadOnly: boolean;
}
