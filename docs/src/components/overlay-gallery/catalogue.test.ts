import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listKit } from "#worker/services/overlays/kit/catalogue.ts";

test("the gallery has every template of the kit under its title", () => {
  const page = readFileSync(join(import.meta.dirname, "../../content/docs/overlays/gallery.mdx"), "utf8");
  const sections = [...page.matchAll(/^## (.+)\n\n<KitTemplate name="(.+)" \/>$/gm)].map(([, title, name]) => ({ name, title }));
  expect(sections).toEqual(listKit().map(({ name, title }) => ({ name, title })));
});
