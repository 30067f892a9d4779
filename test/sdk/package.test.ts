import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { z } from "@hono/zod-openapi";
import { build } from "esbuild";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "#scripts/lib/command.ts";
import { ROOT } from "#scripts/lib/root.mjs";

const DIST = join(ROOT, "sdk/dist");
const Integrity = z.object({ version: z.string(), pinned: z.string(), files: z.record(z.string(), z.string()) });

function hashOf(algorithm: string, content: string | Uint8Array, encoding: "base64" | "hex"): string {
  return createHash(algorithm).update(content).digest(encoding);
}

const kilobytes = (code: string | Uint8Array) => gzipSync(code, { level: 9 }).length / 1000;

// Typical first integrations, one per kind of project.
const OPTIONS = { strict: true, noEmit: true, module: "esnext", moduleResolution: "bundler", target: "es2022", types: [] };
const PROJECTS: Record<string, { options: object; files: Record<string, string> }> = {
  react: {
    options: { jsx: "react-jsx", lib: ["es2022", "dom", "dom.iterable"] },
    files: {
      "app.tsx": `
        import { useEffect, useRef, useState, useSyncExternalStore } from "react";
        import { configure, renderOverlay, renderPanel, type TifoEventViewModel, userDidStartWatchingEvent } from "@tifo/web";
        import "@tifo/web/tifo.css";

        configure({ clientId: "5eed00000000000000000001", origin: "https://tifo.example", delegate: { getUserToken: async () => null } });

        function Viewers({ event }: { event: TifoEventViewModel }) {
          const { concurrents, connection } = useSyncExternalStore(event.subscribe, event.getSnapshot);
          return <p>{connection === "live" ? concurrents : "…"}</p>;
        }

        export function Watch({ channelId }: { channelId: string }) {
          const [event, setEvent] = useState<TifoEventViewModel | null>(null);
          const panel = useRef<HTMLDivElement>(null);
          useEffect(() => {
            void userDidStartWatchingEvent({ channelId }).then(setEvent);
          }, [channelId]);
          useEffect(() => {
            if (!event || !panel.current) return;
            const rendered = [renderPanel(panel.current, { channelId }), renderOverlay(panel.current, { safeArea: 24 })];
            return () => rendered.forEach((one) => one.unmount());
          }, [event, channelId]);
          return <div ref={panel}>{event && <Viewers event={event} />}</div>;
        }`,
      "components.tsx": `
        import type { TifoEventViewModel } from "@tifo/web";
        import { TifoEventProvider, TifoOverlay, TifoPanel, useEventState } from "@tifo/web/react";

        function Viewers() {
          return <p>{useEventState().concurrents.toFixed()}</p>;
        }

        export function Both({ event }: { event: TifoEventViewModel }) {
          return <TifoEventProvider event={event}><TifoOverlay safeArea={8} /><TifoPanel panelId="p" /><Viewers /></TifoEventProvider>;
        }`,
    },
  },
  typescript: {
    options: { lib: ["es2022", "dom", "dom.iterable"], exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    files: {
      "main.ts": `
        import * as Tifo from "@tifo/web";
        import { createClient, ok, TifoProblem } from "@tifo/web/client";
        import { joinChannel } from "@tifo/web/channel";
        import "@tifo/web/tifo.css";

        Tifo.configure({ clientId: "5eed00000000000000000001" });
        const video = document.querySelector("video");
        const event = await Tifo.userDidStartWatchingEvent({ channelId: "c", ...(video && { player: video }) });
        event.subscribe(() => console.log(event.getSnapshot().overlays.map(({ overlay }) => overlay.priority.toFixed())));
        const client = createClient({ origin: "https://tifo.example", clientId: "5eed00000000000000000001" });
        try {
          const page = await ok(client.api.GET("/page/v2/{id}", { params: { path: { id: "c" } } }));
          console.log(page.data.name);
        } catch (error) {
          if (error instanceof TifoProblem && error.code === "not_found") console.log(error.requestId);
        }
        const channel = joinChannel({
          origin: "https://tifo.example",
          clientId: "5eed00000000000000000001",
          channelId: "c",
          onFrame: (frame) => frame.type === "overlay.show" && console.log(frame.broadcastId),
        });
        channel.leave();`,
      "wrong.ts": `
        import { configure } from "@tifo/web";
        // @ts-expect-error: a configuration needs a client id
        configure({ origin: "https://tifo.example" });`,
    },
  },
  javascript: {
    options: { allowJs: true, checkJs: true, lib: ["es2022", "dom", "dom.iterable"] },
    files: {
      "main.js": `
        import { configure, renderPanel, updateUserSettings, userDidStartWatchingEvent } from "@tifo/web";
        import "@tifo/web/tifo.css";

        configure({ clientId: "5eed00000000000000000001", delegate: { trackAction: ({ name }) => console.log(name) } });
        await userDidStartWatchingEvent({ channelId: "c" });
        renderPanel(document.body).focus({ from: "left", onExit: (direction) => console.log(direction) });
        updateUserSettings({ textScale: 1.2 });`,
    },
  },
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tifo-package-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Sets up a project as after its installation, without network access. */
function makeProject(name: string): string {
  const project = join(folder, name);
  const { options, files } = PROJECTS[name] ?? { options: {}, files: {} };
  const typed = name === "react" ? ["@types/react", "@types/react-dom"] : [];
  for (const dependency of ["react", "react-dom", "openapi-fetch", ...typed]) {
    const target = join(project, "node_modules", dependency);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", dependency), target);
  }
  cpSync(DIST, join(project, "node_modules/@tifo/web"), { recursive: true });
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: { ...OPTIONS, ...options } }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text);
  return project;
}

describe("the package", () => {
  test("passes publint", async () => {
    const { messages } = await publint({ pkgDir: DIST, strict: true });
    expect(messages).toEqual([]);
  });

  test("resolves with its types under every module resolution", async () => {
    const { code, output } = await run("attw", ["--pack", DIST, "--profile", "esm-only"]);
    expect(code, output).toBe(0);
  });

  test.each(Object.keys(PROJECTS))("compiles strictly in a fresh %s project, and bundles", async (name) => {
    const project = makeProject(name);
    const { code, output } = await run("tsc", ["-p", project]);
    expect(code, output).toBe(0);
    const entryPoints = Object.keys(PROJECTS[name]?.files ?? {}).map((file) => join(project, file));
    const { outputFiles } = await build({ entryPoints, outdir: project, bundle: true, format: "esm", write: false, logLevel: "silent" });
    expect(outputFiles.filter(({ path }) => path.endsWith(".js"))).toHaveLength(entryPoints.length);
    expect(outputFiles.find(({ path }) => path.endsWith(".css"))?.text).toContain(".tifo");
  });
});

describe("the pinned release", () => {
  const site = join(ROOT, "docs/public");
  const { version, pinned, files } = Integrity.parse(JSON.parse(readFileSync(join(site, "sdk/integrity.json"), "utf8")));

  test("contains the files that its hashes describe", () => {
    const hashes = readdirSync(join(site, pinned)).map((file) => [
      file,
      hashOf("sha384", readFileSync(join(site, pinned, file)), "base64"),
    ]);
    expect(Object.fromEntries(hashes.map(([file, hash]) => [file, `sha384-${hash}`]))).toEqual(files);
  });

  test("has a URL that depends on its content", () => {
    expect(pinned).toBe(`/sdk/pinned/${version}-${hashOf("sha256", JSON.stringify(files), "hex").slice(0, 8)}`);
  });
});

describe("the compressed size", () => {
  test("of client and channel is at most 12 kB", async () => {
    const contents = 'export * from "./client/index.ts"; export * from "./channel/index.ts";';
    const stdin = { contents, resolveDir: join(ROOT, "sdk") };
    const { outputFiles } = await build({ stdin, bundle: true, minify: true, format: "esm", target: "es2022", write: false });
    expect(kilobytes(outputFiles[0]?.contents ?? "")).toBeLessThanOrEqual(12);
  });

  test.each(["tifo.js", "tifo-legacy.js"])("of %s is at most 110 kB, without rive, the sanitizer and languages", (file) => {
    const code = readFileSync(join(ROOT, "docs/public/sdk", file), "utf8");
    expect(kilobytes(code)).toBeLessThanOrEqual(110);
    for (const part of ["RuntimeLoader", "ALLOWED_URI_REGEXP", "Erneut versuchen"]) expect(code).not.toContain(part);
  });

  test("of each template of the overlay kit is at most 6 kB", () => {
    const folder = join(ROOT, "docs/public/sdk");
    const templates = readdirSync(folder).filter((file) => /^kit-.*\.js$/.test(file));
    expect(templates).toHaveLength(13);
    for (const file of templates) expect(kilobytes(readFileSync(join(folder, file), "utf8")), file).toBeLessThanOrEqual(6);
  });

  test("of the elements is at most 4 kB more than that of the script without them", () => {
    const sizeOf = (file: string) => kilobytes(readFileSync(join(ROOT, "docs/public/sdk", file), "utf8"));
    expect(sizeOf("tifo-elements.js") - sizeOf("tifo.js")).toBeLessThanOrEqual(4);
  });
});
