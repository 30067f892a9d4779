import { createElement } from "react";
import type { Screen } from "#studio/app/screen.ts";
import { RESOURCES } from "./definitions.ts";
import type { Resource } from "./resource.ts";

/** A table and a form for each resource, each loaded with the excerpt of the OpenAPI document that describes it. */
export const resourceScreens: readonly Screen[] = RESOURCES.flatMap((resource) => [
  {
    path: resource.path,
    title: resource.title,
    entry: { section: resource.section, icon: resource.icon },
    allows: resource.allows,
    load: () => loadList(resource),
  },
  { path: `${resource.path}/new`, title: `New ${resource.singular}`, allows: resource.canCreate, load: () => loadEditor(resource) },
  { path: `${resource.path}/$id`, title: resource.title, allows: resource.allows, load: () => loadEditor(resource) },
  // Everything that the API has, where the screen made for it leaves something out.
  ...(resource.editor && resource.operations.update !== undefined
    ? [{ path: `${resource.path}/$id/fields`, title: resource.title, allows: resource.allows, load: () => loadForm(resource) }]
    : []),
]);

async function loadList(resource: Resource) {
  const [{ ListScreen }, { default: excerpt }] = await Promise.all([import("./list-screen.tsx"), resource.load()]);
  return { default: () => createElement(ListScreen, { resource, excerpt }) };
}

async function loadEditor(resource: Resource) {
  return resource.editor ? resource.editor() : loadForm(resource);
}

async function loadForm(resource: Resource) {
  const [{ EditScreen }, { default: excerpt }] = await Promise.all([import("./edit-screen.tsx"), resource.load()]);
  return { default: () => createElement(EditScreen, { resource, excerpt }) };
}
