import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, CLIENT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json } from "#worker/lib/schemas/common.ts";
import { getOwnProfile, getUserProfile } from "#worker/services/user-profiles/user-profiles.ts";
import { toUserProfile, UserProfile } from "#worker/services/user-profiles/schemas.ts";

export const userProfiles = createArea();
const tag = "User profiles";

userProfiles.openapi(
  operation({
    operationId: "getOwnUserProfile",
    tag,
    method: "get",
    path: "/userprofile/v1",
    summary: "Get the caller's profile",
    description: "The public profile of the signed-in account.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: {},
    responses: { 200: json("The profile", UserProfile) },
    errors: ["not_found"],
  }),
  async (c) => {
    const profile = await getOwnProfile(c.get("ctx"));
    tagVersion(c, profile);
    return c.json(toUserProfile(profile), 200);
  },
);

userProfiles.openapi(
  operation({
    operationId: "getUserProfile",
    tag,
    method: "get",
    path: "/userprofile/v1/{id}",
    summary: "Get a profile",
    description: "The public profile of an account of the site: its name, but not its email address.",
    access: { credentials: CLIENT },
    request: { params: IdParam },
    responses: { 200: json("The profile", UserProfile) },
    errors: ["not_found"],
  }),
  async (c) => {
    const profile = await getUserProfile(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, profile);
    return c.json(toUserProfile(profile), 200);
  },
);
