import { type KitTemplateName, ShownKitElement } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { listKit } from "#worker/services/overlays/kit/catalogue.ts";

/** A template of the kit as the API lists it. Throws for a name that it doesn't have. */
export function findKitTemplate(name: string): ReturnType<typeof listKit>[number] {
  const template = listKit().find((one) => one.name === name);
  if (!template) throw new Error(`The kit has no template "${name}"`);
  return template;
}

/** The element of an overlay that shows a template with its sample. */
export function sampleElement(name: KitTemplateName): ShownKitElement {
  const { sample, position } = findKitTemplate(name);
  return ShownKitElement.parse({ kind: "kit", template: name, key: "gallery", variables: sample, position });
}

/** The path of a template's own page. */
export function pageOf(name: KitTemplateName): string {
  return `/overlays/gallery/${name}`;
}
