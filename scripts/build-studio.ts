// Builds Studio into docs/dist, which the deployment serves; the docs are built first, because their build empties that folder.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { ROOT } from "./lib/root.mjs";
import config, { ASSETS } from "#studio/vite.config.ts";

for (const folder of ["studio", ASSETS]) rmSync(join(ROOT, "docs/dist", folder), { recursive: true, force: true });
await build({ ...config, configFile: false });
