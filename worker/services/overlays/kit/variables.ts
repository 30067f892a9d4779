import { KIT_VARIABLES, type KitTemplateName, ShownKitElement } from "#worker/lib/schemas/overlay-kit/kit.ts";
import type { OverlayContent } from "#db/types.ts";
import { Failure } from "#worker/lib/errors.ts";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { fillVariables, soleVariable, variablesOf } from "#worker/lib/handlebars/template.ts";

export type KitElement = Extract<OverlayContent, { kind: "kit" }>;
type Value = string | number | boolean;
type Values = Record<string, Value>;

interface Issue {
  path: string;
  message: string;
}

/** The longest value that placeholders may produce; the templates' own limits are shorter. */
const LIMIT = 10_000;

export function isKitVariable(template: KitTemplateName, name: string): boolean {
  return Object.hasOwn(KIT_VARIABLES[template].shape, name);
}

/** Names of the `{{placeholders}}` in an element's own values. */
export function placeholdersOf({ variables = {} }: Pick<KitElement, "variables">): string[] {
  return Object.values(variables).flatMap((value) => (typeof value === "string" ? variablesOf(value) : []));
}

/**
 * What is wrong with an element's own values: names that neither the template nor a placeholder has, and values that don't fit. Values
 * with placeholders are checked when they are filled in.
 */
export function ownValueIssues(template: KitTemplateName, variables: Values): Issue[] {
  const placeholders = placeholdersOf({ variables });
  const unknown = Object.keys(variables).filter((name) => !isKitVariable(template, name) && !placeholders.includes(name));
  const plain = Object.entries(plainVariables({ variables }));
  const fixed = Object.fromEntries(plain.filter(([name, value]) => isKitVariable(template, name) && value !== ""));
  return [
    ...unknown.map((path) => ({ path, message: "The template has no variable of this name" })),
    ...issuesOf(template, fixed).filter(({ path }) => Object.hasOwn(fixed, path)),
  ];
}

/** An element's own values without those that contain placeholders: they may be the placeholders' defaults. */
export function plainVariables({ variables = {} }: Pick<KitElement, "variables">): Values {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => typeof value !== "string" || variablesOf(value).length === 0));
}

/** What is wrong with the variables that a broadcast would have. */
export function broadcastIssues(element: KitElement, given: Values): Issue[] {
  const missing = placeholdersOf(element).filter((name) => !Object.hasOwn({ ...plainVariables(element), ...given }, name));
  const required = [...new Set(missing)].map((path) => ({ path, message: "The overlay requires this variable" }));
  return required.length > 0 ? required : issuesOf(element.template, filledValues(element, given));
}

/** The element as viewers receive it. Throws a 400 that names the variables that don't fit. */
export function shownElement(element: KitElement, given: Values, overlayId: string): ShownKitElement {
  const { kind, template, position, key = overlayId } = element;
  const variables = filledValues(element, given);
  const issues = issuesOf(template, variables).map(({ path, message }) => ({ path: `variables.${path}`, message }));
  const [first] = issues;
  if (first) throw new Failure("invalid_request", first.message, { issues });
  return ShownKitElement.parse({ kind, template, key, variables, position });
}

/** The polls that a broadcast shows and the overlay itself doesn't name: those of the overlay were checked when it was saved. */
export function newPollsOf({ contents }: Pick<Broadcast, "contents">, own: readonly OverlayContent[]): string[] {
  const known = new Set(own.flatMap(pollsOf));
  return contents.flatMap((content) =>
    content.kind === "kit" && content.template === "poll" && !known.has(content.variables.pollId) ? [content.variables.pollId] : [],
  );
}

/** The poll that a stored element names. */
export function pollsOf(content: OverlayContent): string[] {
  const pollId = content.kind === "kit" && content.template === "poll" ? content.variables?.pollId : undefined;
  return typeof pollId === "string" && variablesOf(pollId).length === 0 ? [pollId] : [];
}

/**
 * The element's own values with their placeholders filled in, and over them the broadcast's values of the template's variables. An
 * empty text leaves the variable out, so that a placeholder can be optional.
 */
function filledValues({ template, variables = {} }: KitElement, given: Values): Values {
  const known = new Map(Object.entries({ ...plainVariables({ variables }), ...given }));
  const own = Object.entries(variables).map(([name, value]): [string, Value] => [name, filled(value, known)]);
  const values = Object.fromEntries([...own, ...Object.entries(given)].filter(([name]) => isKitVariable(template, name)));
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

/** A value that is one placeholder becomes the variable itself, so that numbers stay numbers. No markup: the viewer's app renders text. */
function filled(value: Value, known: ReadonlyMap<string, Value>): Value {
  if (typeof value !== "string") return value;
  const sole = soleVariable(value);
  return (sole === undefined ? undefined : known.get(sole)) ?? fillVariables(value, known, LIMIT);
}

function issuesOf(template: KitTemplateName, values: Values): Issue[] {
  const { error } = KIT_VARIABLES[template].safeParse(values);
  return (error?.issues ?? []).flatMap((issue) => {
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((path) => ({ path, message: "The template has no variable of this name" }));
    const path = String(issue.path[0] ?? "");
    return { path, message: Object.hasOwn(values, path) ? issue.message : "The template requires this variable" };
  });
}
