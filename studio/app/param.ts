import { useParams } from "@tanstack/react-router";

/** A parameter of the address: of `/run/$channelId`, `useParam("channelId")`. Empty if the address has none. */
export function useParam(name: string): string {
  const params: Record<string, unknown> = useParams({ strict: false });
  const value = params[name];
  return typeof value === "string" ? value : "";
}
