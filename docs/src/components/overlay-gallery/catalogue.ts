import { listKit } from "#worker/services/overlays/kit/catalogue.ts";

type KitTemplate = ReturnType<typeof listKit>[number];

/** A template of the kit as the API lists it. Throws for a name that it doesn't have. */
export function findKitTemplate(name: string): KitTemplate {
  const template = listKit().find((one) => one.name === name);
  if (!template) throw new Error(`The kit has no template "${name}"`);
  return template;
}

/** The templates before and after one on the page, on which each has its name as its anchor. */
export function neighboursOf(name: string): { previous?: KitLink; next?: KitLink } {
  const all = listKit();
  const at = all.findIndex((one) => one.name === name);
  const [previous, next] = [all[at - 1], all[at + 1]];
  return { ...(previous && { previous: linkTo(previous) }), ...(next && { next: linkTo(next) }) };
}

interface KitLink {
  href: string;
  title: string;
}

function linkTo({ name, title }: KitTemplate): KitLink {
  return { href: `#${name}`, title };
}
