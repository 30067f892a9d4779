import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ANYONE, CLIENT, DEVELOPER_OR_ACCOUNT, SUPER } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import {
  applyAdminTheme,
  createOperatorTheme,
  createSiteTheme,
  deleteTheme,
  getTheme,
  listCustomThemes,
  listDefaultThemes,
  updateDefaultTheme,
  updateSiteTheme,
} from "#worker/services/themes/themes.ts";
import {
  AdminThemeInput,
  ApplyTheme,
  ApplyThemeAnswer,
  CustomThemeInput,
  DefaultThemeInput,
  DeleteThemeAnswer,
  Theme,
  ThemeList,
  ThemeQuery,
  toTheme,
} from "#worker/services/themes/schemas.ts";

export const themes = createArea();
const tag = "Themes";
const warns = "Text that is hard to read on its background is accepted and listed in `warnings`.";

themes.openapi(
  operation({
    operationId: "createAdminTheme",
    tag,
    method: "post",
    path: "/themes/v1/admin",
    summary: "Create an admin theme",
    description: `Creates a theme for the back office of sites. ${warns}`,
    access: { credentials: SUPER },
    request: { body: jsonBody(AdminThemeInput) },
    responses: { 201: json("The theme", Theme) },
  }),
  async (c) => {
    const theme = await createOperatorTheme(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, theme);
    return c.json(toTheme(theme), 201);
  },
);

themes.openapi(
  operation({
    operationId: "applyAdminTheme",
    tag,
    method: "put",
    path: "/themes/v1/admin/apply-admin-theme-to-site",
    summary: "Apply an admin theme to a site",
    description: "Sets the admin theme of a site. The site is given by slug or id, the theme by name or id.",
    access: { credentials: SUPER },
    request: { body: jsonBody(ApplyTheme) },
    responses: { 200: json("The theme is applied", ApplyThemeAnswer) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    await applyAdminTheme(c.get("ctx"), c.req.valid("json"));
    return c.json({ success: true as const }, 200);
  },
);

themes.openapi(
  operation({
    operationId: "listCustomThemes",
    tag,
    method: "get",
    path: "/themes/v1/custom",
    summary: "List custom themes",
    description: "The site's own themes, last changed first.",
    access: { credentials: CLIENT },
    request: { query: ThemeQuery },
    responses: { 200: json("Themes, with the total count", ThemeList) },
  }),
  async (c) => {
    const { rows, totalCount } = await listCustomThemes(c.get("ctx"), c.req.valid("query"));
    return c.json({ totalCount, themes: rows.map(toTheme) }, 200);
  },
);

themes.openapi(
  operation({
    operationId: "createCustomTheme",
    tag,
    method: "post",
    path: "/themes/v1/custom",
    summary: "Create a custom theme",
    description: `Creates a theme of the site; pages reference it by id in \`data.theme\`. ${warns}`,
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(CustomThemeInput) },
    responses: { 201: json("The theme", Theme) },
  }),
  async (c) => {
    const theme = await createSiteTheme(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, theme);
    return c.json(toTheme(theme), 201);
  },
);

themes.openapi(
  operation({
    operationId: "updateCustomTheme",
    tag,
    method: "put",
    path: "/themes/v1/custom/{id}",
    summary: "Change a custom theme",
    description: `Replaces a theme of the site, on all pages that use it. ${warns}`,
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: jsonBody(CustomThemeInput) },
    responses: { 200: json("The theme as it is now", Theme) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const theme = await updateSiteTheme(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, theme);
    return c.json(toTheme(theme), 200);
  },
);

themes.openapi(
  operation({
    operationId: "listDefaultThemes",
    tag,
    method: "get",
    path: "/themes/v1/default",
    summary: "List default themes",
    description: "The themes that every site of the deployment can use, last changed first.",
    access: { credentials: CLIENT },
    request: { query: ThemeQuery },
    responses: { 200: json("Themes, with the total count", ThemeList) },
  }),
  async (c) => {
    const { rows, totalCount } = await listDefaultThemes(c.get("ctx"), c.req.valid("query"));
    return c.json({ totalCount, themes: rows.map(toTheme) }, 200);
  },
);

themes.openapi(
  operation({
    operationId: "createDefaultTheme",
    tag,
    method: "post",
    path: "/themes/v1/default",
    summary: "Create a default theme",
    description: `Creates a theme that every site can use. ${warns}`,
    access: { credentials: SUPER },
    request: { body: jsonBody(DefaultThemeInput) },
    responses: { 201: json("The theme", Theme) },
  }),
  async (c) => {
    const theme = await createOperatorTheme(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, theme);
    return c.json(toTheme(theme), 201);
  },
);

themes.openapi(
  operation({
    operationId: "updateDefaultTheme",
    tag,
    method: "put",
    path: "/themes/v1/default/{id}",
    summary: "Change a default theme",
    description: `Replaces a theme for every site that uses it. ${warns}`,
    access: { credentials: SUPER },
    request: { params: IdParam, body: jsonBody(DefaultThemeInput) },
    responses: { 200: json("The theme as it is now", Theme) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const theme = await updateDefaultTheme(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, theme);
    return c.json(toTheme(theme), 200);
  },
);

themes.openapi(
  operation({
    operationId: "getTheme",
    tag,
    method: "get",
    path: "/themes/v1/{id}",
    summary: "Get a theme",
    description: "One theme of any site: themes are public to anyone who knows their id.",
    access: { credentials: ANYONE },
    request: { params: IdParam },
    responses: { 200: json("The theme", Theme) },
    errors: ["not_found"],
  }),
  async (c) => {
    const theme = await getTheme(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, theme);
    return c.json(toTheme(theme), 200);
  },
);

themes.openapi(
  operation({
    operationId: "deleteTheme",
    tag,
    method: "delete",
    path: "/themes/v1/{id}",
    summary: "Delete a theme",
    description: "Deletes a theme of the site. If pages use it, it is kept: `result` is false and `pages` lists them.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("Whether it is deleted, or which pages still use it", DeleteThemeAnswer) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const users = await deleteTheme(c.get("ctx"), c.req.valid("param").id);
    return c.json({ result: users.length === 0, pages: users.map(({ id, slug, name }) => ({ _id: id, slug, name })) }, 200);
  },
);
