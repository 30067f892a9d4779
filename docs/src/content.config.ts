import { docsLoader, i18nLoader } from "@astrojs/starlight/loaders";
import { docsSchema, i18nSchema } from "@astrojs/starlight/schema";
import { defineCollection } from "astro:content";
import { z } from "astro/zod";

// Search engines truncate longer descriptions.
const described = z.object({ description: z.string().min(1).max(160) });

export const collections = {
  docs: defineCollection({ loader: docsLoader(), schema: docsSchema({ extend: described }) }),
  i18n: defineCollection({ loader: i18nLoader(), schema: i18nSchema() }),
};
