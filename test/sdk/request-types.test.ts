import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, onTestFinished, test } from "vitest";
import { OPENAPI } from "#scripts/lib/build.ts";
import { run } from "#scripts/lib/command.ts";
import { ROOT } from "#scripts/lib/root.mjs";

// Typical code with types that were generated from the OpenAPI document.
const CALLS = `
  import type { components, paths } from "./rest";
  type Schemas = components["schemas"];
  type Broadcast = NonNullable<paths["/overlay/v1/broadcast/{id}"]["post"]["requestBody"]>["content"]["application/json"];

  export const broadcast: Broadcast = { channelId: "5eed0000000000000000c001" };
  export const rive: Schemas["OverlayInput"]["contents"] = [{ kind: "rive", mediaId: "5eed00000000000000000001", fileName: "goal.riv" }];
  export const cleared: Pick<Schemas["OverlayInput"], "cta"> = { cta: null };
  export const panel: Schemas["PanelRendererInput"] = { panel_type: "donations", panel_name: "Stats", url: "https://demo.example/stats" };

  export function read(theme: Schemas["Theme"], page: Schemas["PageData"], content: Schemas["OverlayContent"], overlay: Schemas["Overlay"]) {
    const position: string = content.position;
    const cta: Schemas["OverlayCta"] | null = overlay.cta;
    return [theme.mode.length, page.gate.skus.length, position, cta];
  }
  // @ts-expect-error: a property without a default is required
  export const unnamed: Schemas["PanelRendererInput"] = { panel_type: "donations", url: "https://demo.example/stats" };
`;

const GENERATORS: Record<string, () => Promise<string>> = {
  "of the SDK": async () => readFileSync(join(ROOT, "sdk/generated/rest.d.ts"), "utf8"),
  "that openapi-typescript generates by its default settings": async () => astToString(await openapiTS(pathToFileURL(join(ROOT, OPENAPI)))),
};

test.each(Object.keys(GENERATORS))(
  "the types %s make properties with defaults optional in requests and required in responses",
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), "tifo-types-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const compilerOptions = { strict: true, noEmit: true, module: "esnext", moduleResolution: "bundler", target: "es2022", types: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    writeFileSync(join(folder, "rest.d.ts"), (await GENERATORS[name]?.()) ?? "");
    writeFileSync(join(folder, "calls.ts"), CALLS);
    const { code, output } = await run("tsc", ["-p", folder]);
    expect(code, output).toBe(0);
  },
);
