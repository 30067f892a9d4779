import { z } from "@hono/zod-openapi";
import { ARABIC } from "#docs/src/components/overlay-gallery/arabic.ts";
import { KIT_VARIABLES, type KitTemplateName } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { KIT } from "#worker/services/overlays/kit/catalogue.ts";

const Properties = z.record(
  z.string(),
  z.looseObject({ maxLength: z.number().optional(), anyOf: z.array(z.looseObject({ maxLength: z.number().optional() })).optional() }),
);
const Schema = z.looseObject({ properties: Properties });

const TEXT = "Maximiliana Konstantinopoulou-Featherstonehaugh of the United Harbour Wanderers, who never gives up. ";
const LONGEST = { homeScore: "1284/10d", awayScore: "999/8", moment: "90+12 ET", shirtNumber: 999, votes: 999_999 };

/** As much text as the template accepts, in every variable that it has. */
export function longVariables(template: KitTemplateName): Record<string, string | number | boolean> {
  const { properties } = Schema.parse(z.toJSONSchema(KIT_VARIABLES[template], { io: "input" }));
  const sample: Record<string, string | number | boolean> = KIT[template].sample;
  const filled = Object.entries(properties).flatMap(([name, { maxLength }]): [string, string | number | boolean][] => {
    if (name in LONGEST) return Object.entries(LONGEST).filter(([one]) => one === name);
    if (name === "players") return [[name, Array.from({ length: 15 }, (_, index) => `${index + 1} ${TEXT.slice(0, 75)}`).join("\n")]];
    if (maxLength !== undefined && !/(Color|Crest|Id|image|look|card)$/.test(name))
      return [[name, TEXT.repeat(10).slice(0, maxLength).trim()]];
    return name in sample ? [[name, sample[name] ?? ""]] : [];
  });
  return Object.fromEntries(filled);
}

/** The sample in Arabic. */
export function arabicVariables(template: KitTemplateName): Record<string, string | number | boolean> {
  return { ...KIT[template].sample, ...ARABIC[template] };
}

/** The sample in letters with marks above and below each other, as Vietnamese has them. */
export function vietnameseVariables(template: KitTemplateName): Record<string, string | number | boolean> {
  const texts = Object.keys(ARABIC[template]).map((name): [string, string] => [
    name,
    name === "players" ? "1 Nguyễn Ệp\n2 Đỗ Thị Ngọc Ẩn\n3 Quỳnh Ẫgjpy" : "Ệ Nguyễn Ặjpy",
  ]);
  return { ...KIT[template].sample, ...Object.fromEntries(texts) };
}
