import { type Operation, securitySchemes } from "./document.ts";

/** One way to say who calls an operation: its credentials, each with where it goes. */
export interface CredentialSet {
  parts: { name: string; description: string }[];
}

/** The ways that are enough for an operation, in the document's order. None of them asks for anything where anybody may call. */
export function credentialsOf({ security }: Operation): CredentialSet[] {
  return security.map((set) => ({
    parts: set.map((kind) => {
      const { type, name = "Authorization", in: place, description = "" } = securitySchemes[kind] ?? { type: "apiKey" };
      return { name: type === "http" ? `${name}: Bearer …` : place === "query" ? `?${name}=…` : `${name}: …`, description };
    }),
  }));
}
