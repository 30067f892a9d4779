import type { GraphicSnapshot } from "#db/graphic-types.ts";
import type { OverlayContent, OverlayContents } from "#db/types.ts";
import { Failure, type Issue } from "#worker/lib/errors.ts";
import { isSchema, type Schema } from "#worker/lib/json-schema/schema.ts";
import type { StepBudget } from "#worker/lib/json-schema/steps.ts";
import type { GraphicAction, ShownGraphicElement } from "#worker/lib/schemas/graphic-element.ts";
import { dataProblems, defaultsOf, newBudget } from "./data-schema.ts";
import { GRAPHIC_SCHEMA } from "./schemas.ts";

// Elements of overlays that show an uploaded graphic.

export type GraphicElement = Extract<OverlayContent, { kind: "ograf" }>;
type Values = Record<string, string | number | boolean>;

export function isGraphicVariable(element: GraphicElement, name: string): boolean {
  return propertyOf(snapshotFor(element).schema, name) !== undefined;
}

/** What is wrong with a broadcast's values, as far as their types say: what a rule sends is checked no further. */
export function typeIssues(element: GraphicElement, given: Values): Issue[] {
  const { schema } = snapshotFor(element);
  return Object.entries(given).flatMap(([path, value]) => {
    const property = propertyOf(schema, path);
    const types: unknown[] = [property?.type].flat();
    const fits = types.some((type) => type === undefined || type === typeof value || (type === "integer" && Number.isInteger(value)));
    return !property || fits ? [] : [{ path, message: `Must be of the type ${types.join(" or ")}` }];
  });
}

/** Throws a 400 that names what doesn't match the schemas of the graphics: the data, or the payload of an action. */
export async function requireGraphicData(
  contents: readonly OverlayContent[],
  given: Values,
  actions: readonly GraphicAction[],
): Promise<void> {
  const elements = contents.filter((content) => content.kind === "ograf");
  const issues: Issue[] = [];
  const budget = newBudget();
  if (actions.length > 0 && elements.length === 0) issues.push({ path: "actions", message: "The overlay has no OGraf graphic" });
  for (const element of elements) {
    const snapshot = snapshotFor(element);
    const { variables } = element;
    const own = await dataProblems(beyondDefaults(snapshot.schema), { ...variables, ...ofGraphic(element, given) }, budget);
    issues.push(...own.map(({ path, message }) => ({ path: path === "" ? "variables" : `variables.${path}`, message })));
    for (const [index, action] of actions.entries()) issues.push(...(await actionIssues(action, snapshot, `actions.${index}`, budget)));
  }
  const [first] = issues;
  if (first) throw new Failure("invalid_request", first.message, { issues });
}

/** The schema for what the overlay and a broadcast have: its author's defaults needn't match it, and stand in for what is missing. */
function beyondDefaults(schema: Schema): Schema {
  const defaults = defaultsOf(schema);
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => !Object.hasOwn(defaults, String(name))) : [];
  return { ...schema, required };
}

async function actionIssues(action: GraphicAction, { actions }: GraphicSnapshot, path: string, budget: StepBudget): Promise<Issue[]> {
  if (action.type !== "custom") return [];
  if (!Object.hasOwn(actions, action.id)) return [{ path: `${path}.id`, message: "The graphic has no action with this id" }];
  const schema = actions[action.id];
  if (!schema) return [];
  const issues = await dataProblems(schema, action.payload ?? {}, budget);
  return issues.map((issue) => ({ path: [path, "payload", issue.path].filter((part) => part !== "").join("."), message: issue.message }));
}

/** The element as viewers receive it. */
export function shownGraphic(element: GraphicElement, given: Values, actions: GraphicAction[], overlayId: string): ShownGraphicElement {
  const { kind, graphic, position, key = overlayId, variables } = element;
  const { schema, width } = snapshotFor(element);
  const data = { ...defaultsOf(schema), ...variables, ...ofGraphic(element, given) };
  return { kind, graphic, key, width, data, actions, position };
}

/** The elements as the API returns them. */
export function withoutSnapshots(contents: OverlayContents): OverlayContents {
  return contents.map((content) => {
    if (content.kind !== "ograf") return content;
    const { snapshot, ...shown } = content;
    return snapshot ? shown : content;
  });
}

/** Rows always have it; an overlay that the API returns doesn't. */
function snapshotFor({ snapshot = { schema: GRAPHIC_SCHEMA, width: 1920, actions: {} } }: GraphicElement): GraphicSnapshot {
  return snapshot;
}

function ofGraphic(element: GraphicElement, given: Values): Values {
  return Object.fromEntries(Object.entries(given).filter(([name]) => isGraphicVariable(element, name)));
}

export function propertyOf(schema: Record<string, unknown>, name: string): Record<string, unknown> | undefined {
  const { properties } = schema;
  const property = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isSchema(property) ? property : undefined;
}
