import { DEMO } from "../components/key/credentials.ts";
import type { Area, Operation } from "../components/operation/document.ts";
import { requestOf, type SampleRequest } from "../components/samples/request.ts";

/** The parts of a Postman collection (format 2.1) that this one uses. */
export interface PostmanCollection {
  info: { name: string; description: string; schema: string };
  variable: { key: string; value: string }[];
  item: { name: string; description: string; item: PostmanItem[] }[];
}

interface PostmanItem {
  name: string;
  event?: { listen: "prerequest" | "test"; script: { type: string; exec: string[] } }[];
  request: {
    method: string;
    description: string;
    header: { key: string; value: string }[];
    url: { raw: string; host: string[]; path: string[]; query: { key: string; value: string }[] };
    body?: { mode: "raw"; raw: string } | { mode: "formdata"; formdata: { key: string; type: "file"; src: string }[] };
  };
}

const VARIABLES: Record<string, string> = {
  [DEMO.clientId]: "{{clientId}}",
  [DEMO.developerKey]: "{{developerKey}}",
  tifo_super_demo: "{{superKey}}",
};

/** Every operation as a Postman request. Signing in stores the token that the others send; signatures are computed. */
export function postmanCollection(areas: readonly Area[], version: string): PostmanCollection {
  return {
    info: {
      name: `Tifo Content API ${version}`,
      description: "Set the variables of the collection, send “Sign in” once for operations that need a token, and send any request.",
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    variable: [
      { key: "baseUrl", value: DEMO.origin },
      { key: "clientId", value: DEMO.clientId },
      { key: "developerKey", value: DEMO.developerKey },
      { key: "superKey", value: "" },
      { key: "token", value: "" },
    ],
    item: areas.map(({ name, description, operations }) => ({ name, description, item: operations.map(itemOf) })),
  };
}

function itemOf(operation: Operation): PostmanItem {
  const sample = requestOf(operation);
  const { pathname, searchParams } = new URL(sample.url);
  const path = pathname.slice(1).split("/");
  const query = [...searchParams].map(([key, value]) => ({ key, value: VARIABLES[value] ?? value }));
  const search = query.length === 0 ? "" : `?${query.map(({ key, value }) => `${key}=${value}`).join("&")}`;
  const body = bodyOf(sample);
  const event = eventOf(operation, sample);
  return {
    name: operation.summary,
    ...(event && { event }),
    request: {
      method: sample.method,
      description: operation.description,
      header: sample.headers.map(({ name, value, variable }) => ({
        key: name,
        value: variable === undefined ? (VARIABLES[value] ?? value) : `${value}${variable === "signature" ? "{{signature}}" : "{{token}}"}`,
      })),
      url: { raw: `{{baseUrl}}/${path.join("/")}${search}`, host: ["{{baseUrl}}"], path, query },
      ...(body && { body }),
    },
  };
}

function bodyOf({ body }: SampleRequest): PostmanItem["request"]["body"] {
  if (!body) return undefined;
  if (body.kind === "file") return { mode: "formdata", formdata: [{ key: "file", type: "file", src: "" }] };
  return {
    mode: "raw",
    raw: body.kind === "text" ? body.text : JSON.stringify(body.value, null, 2).replaceAll(DEMO.clientId, "{{clientId}}"),
  };
}

function eventOf({ operationId }: Operation, { signed, body }: SampleRequest): PostmanItem["event"] {
  if (operationId === "login") {
    const exec = ["const { jwt } = pm.response.json();", "if (jwt) pm.collectionVariables.set('token', jwt);"];
    return [{ listen: "test", script: { type: "text/javascript", exec } }];
  }
  if (!signed) return undefined;
  const content = body ? "pm.variables.replaceIn(pm.request.body.raw)" : JSON.stringify(signed.content);
  const exec = [`pm.variables.set('signature', CryptoJS.HmacSHA256(${content}, ${JSON.stringify(signed.secret)}).toString());`];
  return [{ listen: "prerequest", script: { type: "text/javascript", exec } }];
}
