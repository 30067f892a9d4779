import type { GraphicRow } from "#db/schema/graphics.ts";
import type { GraphicFile } from "#db/graphic-types.ts";
import { contentTypeOf } from "#worker/services/graphics/content-types.ts";
import { fileKey, frameKey } from "#worker/services/graphics/graphics.ts";
import { SITE_A, stamps } from "./match-day.ts";
import { POSSESSION_MANIFEST, POSSESSION_SCRIPT } from "./possession-graphic.ts";

export const POSSESSION_GRAPHIC = "5eed0000000000000000f201";

const FILES: Record<string, string> = {
  "possession.ograf.json": JSON.stringify(POSSESSION_MANIFEST, null, 2),
  [POSSESSION_MANIFEST.main]: POSSESSION_SCRIPT,
};

/** The graphic's row. Its files are `demoGraphicFiles`. */
export function demoGraphics(): (GraphicRow & typeof stamps)[] {
  const files = Object.entries(FILES).map(([path, content]): GraphicFile => {
    return { path, contentType: contentTypeOf(path), size: new TextEncoder().encode(content).byteLength };
  });
  const { name, description, main } = POSSESSION_MANIFEST;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const row = { id: POSSESSION_GRAPHIC, siteId: SITE_A, name, description, main, files, size };
  return [{ ...stamps, version: 1, ...row, manifest: POSSESSION_MANIFEST, ready: true }];
}

/** What the bucket has of the graphic. */
export function demoGraphicFiles(): { key: string; content: string; contentType: string }[] {
  const files = Object.entries(FILES).map(([path, content]) => {
    return { key: fileKey(POSSESSION_GRAPHIC, path), content, contentType: contentTypeOf(path) };
  });
  const frame = { key: frameKey(POSSESSION_GRAPHIC), content: JSON.stringify({ main: POSSESSION_MANIFEST.main }) };
  return [...files, { ...frame, contentType: "application/json" }];
}
