import { NUMBERS, numberProblem, type NumberVariable } from "#worker/lib/variables.ts";

const NAMES = Object.keys(NUMBERS).filter((name): name is NumberVariable => name in NUMBERS);

/** What is wrong with the numbers among the variables of a wrangler.toml. One that isn't there has its default. */
export function variableProblems(config: string): string[] {
  return NAMES.flatMap((name) => {
    const [, quoted, bare] = new RegExp(`^${name}\\s*=\\s*(?:"([^"]*)"|([^#\\n]*))`, "m").exec(config) ?? [];
    return numberProblem(name, quoted ?? bare ?? NUMBERS[name].fallback) ?? [];
  });
}
