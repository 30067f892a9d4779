declare module "openapi:*" {
  import type { ApiExcerpt } from "#studio/api/schema.ts";
  const excerpt: ApiExcerpt;
  export default excerpt;
}
