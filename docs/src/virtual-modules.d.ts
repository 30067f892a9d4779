// Without an import of its own, because it declares modules instead of adding to them.
declare module "virtual:tifo/error-watcher" {
  const script: string;
  export default script;
}

declare module "virtual:tifo/crash" {
  const script: string;
  export default script;
}

declare module "virtual:tifo/sdk-sizes" {
  const sizes: Record<string, number>;
  export default sizes;
}

declare module "virtual:tifo/routes" {
  const routes: { pattern: string; type: string; origin: string; source: string; params: string[] }[];
  export default routes;
}
