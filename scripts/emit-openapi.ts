// Writes the OpenAPI document to docs/public, from where the site serves it as a static file.
import { writeFileSync } from "node:fs";
import { createApp } from "../worker/app.ts";
import { openApiDocument } from "../worker/http/openapi.ts";
import { OPENAPI } from "./lib/build.ts";

writeFileSync(OPENAPI, `${JSON.stringify(openApiDocument(createApp()), undefined, 2)}\n`);
