// Writes the files derived from the schemas: the AsyncAPI document for the site, and the SDK's types of REST and realtime messages.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import { asyncApiDocument } from "./lib/asyncapi.ts";
import { OPENAPI } from "./lib/build.ts";
import { protocolSchemas } from "./lib/protocol-schemas.ts";
import { ROOT } from "./lib/root.mjs";

const GENERATED = join(ROOT, "sdk/generated");

mkdirSync(GENERATED, { recursive: true });
writeFileSync(join(ROOT, "docs/public/asyncapi.json"), `${JSON.stringify(asyncApiDocument(), null, 2)}\n`);
await writeTypes("rest.d.ts", pathToFileURL(join(ROOT, OPENAPI)));
// The generator reads only OpenAPI, whose components are JSON Schema too.
const realtime = { openapi: "3.1.0", info: { title: "Realtime", version: "2.0.0" }, paths: {}, components: { schemas: protocolSchemas() } };
await writeTypes("protocol.d.ts", JSON.stringify(realtime));

async function writeTypes(file: string, document: URL | string): Promise<void> {
  writeFileSync(join(GENERATED, file), astToString(await openapiTS(document, { alphabetize: true, defaultNonNullable: false })));
}
