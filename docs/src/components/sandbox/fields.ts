/** A field of a response's JSON; undefined if there is none. */
function at(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

export function textAt(value: unknown, name: string): string {
  const text = at(value, name);
  return typeof text === "string" ? text : "";
}

export function numberAt(value: unknown, name: string): number {
  return Number(at(value, name) ?? 0);
}

export function listAt(value: unknown, name: string): unknown[] {
  const list = at(value, name);
  return Array.isArray(list) ? list.map((item: unknown) => item) : [];
}
