import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listKit } from "#worker/services/overlays/kit/catalogue.ts";
import { ARABIC } from "./arabic.ts";
import { neighboursOf } from "./catalogue.ts";

test("the gallery has every template of the kit under its title", () => {
  const page = readFileSync(join(import.meta.dirname, "../../content/docs/overlays/gallery.mdx"), "utf8");
  const sections = [...page.matchAll(/^## (.+)\n\n<KitTemplate name="(.+)" \/>$/gm)].map(([, title, name]) => ({ name, title }));
  expect(sections).toEqual(listKit().map(({ name, title }) => ({ name, title })));
});

test("each template links to the ones before and after it by the anchors of their headings", () => {
  expect(neighboursOf("scorebug")).toEqual({ next: { href: "#goal", title: "Goal" } });
  expect(neighboursOf("final-result")).toEqual({ previous: { href: "#breaking-news", title: "Breaking news" } });
  expect(neighboursOf("line-up").previous).toEqual({ href: "#substitution", title: "Substitution" });
  for (const { name, title } of listKit()) expect(title.toLowerCase().replaceAll(" ", "-")).toBe(name);
});

test("each template has a sample in Arabic that replaces texts of its sample, and nothing else", () => {
  for (const { name, sample } of listKit()) {
    const texts = Object.entries(sample).filter(([, value]) => typeof value === "string" && /[a-z]{3}/i.test(value));
    const translated = texts.map(([variable]) => variable).filter((variable) => !/Color$|^pollId$|^card$|^formation$/.test(variable));
    expect(Object.keys(ARABIC[name]).sort(), name).toEqual(translated.sort());
  }
});
