// Files as integrators upload them: the smallest valid one of a type.

export const PNG = Uint8Array.from(
  Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"),
);

/** A form with one file. */
export function uploadForm(content: string | Uint8Array<ArrayBuffer> = PNG, name = "scarf.png", type = "image/png"): FormData {
  const form = new FormData();
  form.set("file", new File([content], name, { type }));
  return form;
}
