import { useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import type { Theme } from "./model.ts";

const HEX = /^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/;

/** The site's own themes. */
export function useThemes() {
  const { client } = useSession();
  return useQuery({
    queryKey: ["themes"],
    queryFn: async (): Promise<Theme[]> => (await ok(client.api.GET("/themes/v1/custom", { params: { query: { limit: 200 } } }))).themes,
    staleTime: 60_000,
  });
}

/** The colours of the site's themes, each once: accent first, as the theme has them. */
export function colorsOf(themes: readonly Theme[]): { color: string; name: string }[] {
  const found = new Map<string, string>();
  for (const theme of themes)
    for (const [role, color] of Object.entries(theme.colors))
      if (typeof color === "string" && HEX.test(color) && !found.has(color.toLowerCase()))
        found.set(color.toLowerCase(), `${theme.name}: ${role}`);
  return [...found].map(([color, name]) => ({ color, name }));
}

const SHOWN = 8;

interface Props {
  /** Of the field that gets the colour. */
  label: string;
  onChoose: (color: string) => void;
}

/** The brand's colours, as buttons. */
export function BrandColors({ label, onChoose }: Props) {
  const themes = useThemes();
  const colors = colorsOf(themes.data ?? []).slice(0, SHOWN);
  if (colors.length === 0) return null;
  return (
    <span className="swatches" role="group" aria-label={`Brand colours for ${label.toLowerCase()}`}>
      {colors.map(({ color, name }) => (
        <button
          key={color}
          type="button"
          className="swatch"
          style={{ backgroundColor: color }}
          title={`${name} ${color}`}
          aria-label={`${name} ${color}`}
          onClick={() => onChoose(color)}
        />
      ))}
    </span>
  );
}
