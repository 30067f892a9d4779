import { isSchema, KEPT, LIST, MAP, ONE, resolve, type Schema } from "./json-schema.ts";
import { LONGEST_TEXT } from "./pattern.ts";

/** Where schemas are kept for references; their copies stand there by number. */
const SHELVES = new Set(["$defs", "definitions"]);

/**
 * A schema as the validator gets it: a copy of what it checks and nothing else, since it takes names in annotations for keywords. What
 * references lead to stands under `$defs` by number, wherever it was. The schema is one that `schemaProblems` found nothing wrong with.
 */
export function plainSchema(root: Schema): Schema {
  const targets: unknown[] = [];
  const placeOf = (target: unknown): string => {
    if (target === root) return "#";
    const known = targets.indexOf(target);
    return `#/$defs/${known < 0 ? targets.push(target) - 1 : known}`;
  };

  function copy(value: unknown): unknown {
    return isSchema(value) ? copySchema(value) : Array.isArray(value) ? value.map(copy) : value;
  }

  function copySchema(schema: Schema): Schema {
    const kept = Object.entries(schema).filter(([name]) => !SHELVES.has(name));
    const { pattern, ...plain } = Object.fromEntries(kept.flatMap(([name, value]) => copyKeyword(name, value)));
    return pattern === undefined ? plain : { ...plain, allOf: [plain.allOf ?? [], ifShort({ pattern })].flat() };
  }

  function copyKeyword(name: string, value: unknown): [string, unknown][] {
    if (name === "$ref") return [[name, placeOf(resolve(root, value))]];
    if (name === "items" || ONE.includes(name) || LIST.includes(name)) return [[name, copy(value)]];
    if (isSchema(value) && MAP.includes(name))
      return [[name, Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]))]];
    return KEPT.has(name) ? [[name, value]] : [];
  }

  const plain = copySchema(root);
  // The list grows while it is walked: copies find further references.
  const $defs: Schema = {};
  for (const [number, target] of targets.entries()) $defs[number] = copy(target);
  return { ...plain, $defs };
}

/** Nothing long is held against a pattern: it is refused for its length. */
function ifShort(then: Schema): Schema {
  const short = { maxLength: LONGEST_TEXT };
  return { if: short, then, else: short };
}
