import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listKit } from "#worker/services/overlays/kit/catalogue.ts";
import { ARABIC } from "./arabic.ts";
import { pageOf } from "./catalogue.ts";

const FOLDER = join(import.meta.dirname, "../../content/docs/overlays");

test("the gallery has every template of the kit under its title", () => {
  const page = readFileSync(join(FOLDER, "gallery.mdx"), "utf8");
  const sections = [...page.matchAll(/^## (.+)\n\n<KitCard name="(.+)" \/>$/gm)].map(([, title, name]) => ({ name, title }));
  expect(sections).toEqual(listKit().map(({ name, title }) => ({ name, title })));
});

test("every template has a page of its own with its controls and variables, and no other page is there", () => {
  const kit = listKit();
  for (const { name, title } of kit) {
    const page = readFileSync(join(FOLDER, "gallery", `${name}.mdx`), "utf8");
    expect(page).toContain(`\ntitle: ${title} overlay\n`);
    expect(page).toContain(`\nslug: ${pageOf(name).slice(1)}\n`);
    for (const part of ["KitTemplate", "KitVariables"]) expect(page).toContain(`<${part} name="${name}" />`);
  }
  expect(readdirSync(join(FOLDER, "gallery")).sort()).toEqual(kit.map(({ name }) => `${name}.mdx`).sort());
});

test("each template has a sample in Arabic that replaces texts of its sample, and nothing else", () => {
  for (const { name, sample } of listKit()) {
    const texts = Object.entries(sample).filter(([, value]) => typeof value === "string" && /[a-z]{3}/i.test(value));
    const translated = texts.map(([variable]) => variable).filter((variable) => !/Color$|^pollId$|^card$|^formation$/.test(variable));
    expect(Object.keys(ARABIC[name]).sort(), name).toEqual(translated.sort());
  }
});
