import { type Operation, securitySchemes } from "./document.ts";

/** One way to authenticate a call: a set of credentials, each with its location. */
export interface CredentialSet {
  parts: { name: string; description: string }[];
}

/** The sets of credentials that an operation accepts, in the document's order. A set is empty if anybody can call the operation. */
export function credentialsOf({ security }: Operation): CredentialSet[] {
  return security.map((set) => ({
    parts: set.map((kind) => {
      const { type, name = "Authorization", in: place, description = "" } = securitySchemes[kind] ?? { type: "apiKey" };
      return { name: type === "http" ? `${name}: Bearer …` : place === "query" ? `?${name}=…` : `${name}: …`, description };
    }),
  }));
}
