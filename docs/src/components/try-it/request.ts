/** The operation as its page passes it to the form. */
export interface Form {
  method: string;
  /** With {parameters}. */
  path: string;
  fields: Field[];
  /** Initial JSON or text; for a file, the reader selects one. */
  body: { type: string; text: string } | "file" | undefined;
}

export interface Field {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  value: string;
}

/** The request of a filled form, to this page's own origin. Empty fields are left out. */
export function requestOf(form: Form, values: Record<string, string>, body: string | File | undefined): { url: string; init: RequestInit } {
  const given = form.fields.flatMap((field) => {
    const value = values[keyOf(field)] ?? field.value;
    return value === "" ? [] : [{ ...field, value }];
  });
  const path = form.path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = given.find((field) => field.in === "path" && field.name === name)?.value;
    return value === undefined ? whole : encodeURIComponent(value);
  });
  const query = new URLSearchParams(given.filter((field) => field.in === "query").map(({ name, value }) => [name, value]));
  const headers = new Headers(Object.fromEntries(given.filter((field) => field.in === "header").map(({ name, value }) => [name, value])));
  if (typeof form.body === "object") headers.set("Content-Type", form.body.type);
  return {
    url: query.size > 0 ? `${path}?${query.toString()}` : path,
    init: { method: form.method, headers, body: form.body === undefined ? null : sent(body) },
  };
}

/** Distinguishes a header from a query parameter with the same name. */
export function keyOf({ in: place, name }: Field): string {
  return `${place}.${name}`;
}

function sent(body: string | File | undefined): BodyInit | null {
  if (!(body instanceof File)) return body ?? null;
  const form = new FormData();
  form.set("file", body);
  return form;
}
