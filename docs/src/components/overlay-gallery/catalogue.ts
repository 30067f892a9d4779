import { listKit } from "#worker/services/overlays/kit/catalogue.ts";

/** A template of the kit as the API lists it. Throws for a name that it doesn't have. */
export function findKitTemplate(name: string): ReturnType<typeof listKit>[number] {
  const template = listKit().find((one) => one.name === name);
  if (!template) throw new Error(`The kit has no template "${name}"`);
  return template;
}
