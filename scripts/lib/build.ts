import { join } from "node:path";
import { runOrFail } from "./command.ts";
import { unlessFresh } from "./fresh.ts";
import { step } from "./report.mjs";
import { ROOT } from "./root.mjs";

export const OPENAPI = "docs/public/openapi.json";

/** Also for a build within a test, whose own environment would add code for development. */
const FOR_PRODUCTION = { env: { NODE_ENV: "production" } };

/** Rebuilds whatever is out of date: the API's documents, the SDK, the command line, the docs site and Studio. */
export async function build(): Promise<void> {
  await unlessFresh({
    stamp: stamp("openapi"),
    inputs: ["worker/**/*.ts", "db/*.ts", "db/schema/**", "scripts/emit-openapi.ts", "package-lock.json"],
    except: ["**/*.test.ts"],
    output: OPENAPI,
    work: () => step("Writing the OpenAPI document", emitOpenApi),
  });
  await unlessFresh({
    stamp: stamp("sdk"),
    inputs: [
      "sdk/**",
      OPENAPI,
      "worker/durable-objects/**/*.protocol.ts",
      "worker/lib/schemas/**/*.ts",
      "scripts/{emit-sdk-types,build-sdk}.ts",
      "scripts/lib/{asyncapi,protocol-schemas}.ts",
      "package-lock.json",
    ],
    except: ["sdk/dist", "sdk/generated", "**/*.test.ts"],
    output: "docs/public/sdk/integrity.json",
    work: () => step("Building the SDK", buildSdk),
  });
  await unlessFresh({
    stamp: stamp("cli"),
    inputs: ["cli/**", "sdk/{client,channel,model}/**", OPENAPI, "scripts/build-cli.ts", "package-lock.json"],
    except: ["cli/dist", "**/*.test.ts"],
    output: "docs/public/cli/version.json",
    work: () => step("Building the command line", buildCli),
  });
  await unlessFresh({
    stamp: stamp("docs"),
    inputs: [
      "docs/**",
      "astro.config.mjs",
      "sdk/**",
      "bench/RESULTS.md",
      "bench/records/**",
      "worker/lib/errors.ts",
      "worker/lib/schemas/overlay-kit/*.ts",
      "worker/services/overlays/kit/*.ts",
      "worker/services/event-catalogue/*.ts",
      "worker/services/*/{events,*schemas}.ts",
      "package-lock.json",
    ],
    except: ["docs/dist", "sdk/dist", "**/*.test.ts"],
    output: "docs/dist/index.html",
    work: () => step("Building the docs", buildDocs),
  });
  // Last, because a build of the docs empties the folder that both are served from.
  await unlessFresh({
    stamp: stamp("studio"),
    inputs: ["studio/**", "sdk/**", OPENAPI, "worker/lib/{csv,money,roles}.ts", "scripts/build-studio.ts", "package-lock.json"],
    except: ["sdk/dist", "**/*.test.ts"],
    output: "docs/dist/studio/index.html",
    work: () => step("Building Studio", buildStudio),
  });
}

async function emitOpenApi(): Promise<void> {
  await runOrFail("node", ["scripts/emit-openapi.ts"]);
}

/** The types are generated first, from the API's documents. */
async function buildSdk(): Promise<void> {
  await runOrFail("node", ["scripts/emit-sdk-types.ts"]);
  await runOrFail("node", ["scripts/build-sdk.ts"], FOR_PRODUCTION);
}

async function buildCli(): Promise<void> {
  await runOrFail("node", ["scripts/build-cli.ts"], FOR_PRODUCTION);
}

async function buildDocs(): Promise<void> {
  await runOrFail("astro", ["build"], FOR_PRODUCTION);
}

async function buildStudio(): Promise<void> {
  await runOrFail("node", ["scripts/build-studio.ts"], FOR_PRODUCTION);
}

function stamp(name: string): string {
  return join(ROOT, ".wrangler/stamps", name);
}
