import { useQuery } from "@tanstack/react-query";
import { ok, type Schemas, type TifoClient } from "#sdk/client/index.ts";
import { readAll } from "#sdk/client/lists.ts";
import { type Loaded, loaded } from "#sdk/client/latest.ts";
import { useSession } from "#studio/session/context.tsx";
import type { Provider, Rule } from "./draft.ts";

export const RULES_LIST = ["rules", "list"] as const;
export const ruleKey = (id: string) => ["rules", "item", id] as const;

export type RuleWithLog = Schemas["AutomationRuleWithLog"];

export function readRule(client: TifoClient, id: string): Promise<Loaded<RuleWithLog>> {
  return loaded(client.api.GET("/personalization/v1/automation-rule/{id}", { params: { path: { id } } }));
}

export type DryRunResult = Schemas["DryRun"]["results"][number];

export function useRules() {
  const { client } = useSession();
  return useQuery({
    queryKey: RULES_LIST,
    queryFn: (): Promise<Rule[]> => readAll((query) => ok(client.api.GET("/personalization/v1/automation-rule", { params: { query } }))),
  });
}

export function useProviders() {
  const { client } = useSession();
  return useQuery({
    queryKey: ["rules", "providers"],
    queryFn: async (): Promise<Provider[]> => (await ok(client.api.GET("/dataprovider/v1/available"))).results,
  });
}

/** The overlays that a rule can send. */
export function useTemplates() {
  const { client } = useSession();
  return useQuery({
    queryKey: ["rules", "templates"],
    queryFn: () => readAll((page) => ok(client.api.GET("/overlay/v1", { params: { query: { ...page, type: "template" } } }))),
  });
}

/** The variables of the kit's templates, by template. */
export function useKit() {
  const { client } = useSession();
  return useQuery({
    queryKey: ["rules", "kit"],
    queryFn: async () => new Map((await ok(client.api.GET("/overlay/v1/kit"))).templates.map(({ name, sample }) => [String(name), sample])),
    staleTime: Infinity,
  });
}
