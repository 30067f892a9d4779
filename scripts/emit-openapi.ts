// Writes the OpenAPI document to docs/public, which the site serves as static files.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Api } from "#worker/app.ts";
import { openApiText } from "#worker/http/openapi.ts";
import { TAGS } from "#worker/routes/areas.ts";
import { OPENAPI } from "./lib/build.ts";
import { ROOT } from "./lib/root.mjs";

writeFileSync(join(ROOT, OPENAPI), openApiText(await new Api().whole(), TAGS));
