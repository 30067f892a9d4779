/** What removes or changes something that the code that is running may still use. */
const CONTRACTING: [statement: RegExp, what: string][] = [
  [/^DROP\s+TABLE\b/i, "drops a table"],
  [/^DROP\s+VIEW\b/i, "drops a view"],
  [/^ALTER\s+TABLE\s+\S+\s+DROP\b/i, "drops a column"],
  [/^ALTER\s+TABLE\s+\S+\s+RENAME\b/i, "renames"],
  [/^ALTER\s+TABLE\s+\S+\s+ADD\s+(?:COLUMN\s+)?(?=.*\bNOT\s+NULL\b)(?!.*\bDEFAULT\b)/is, "adds a column that old code can't fill"],
];

/** In a migration, this line states that the running release no longer uses what it removes. */
const EXPANDED = /^--\s*contracts:\s*\S/im;

/** The statements of a migration that the running release can't survive; none if it is marked as the second step of a change. */
export function contractingStatements(migration: string): { statement: string; what: string }[] {
  if (EXPANDED.test(migration)) return [];
  const statements = withoutComments(migration)
    .split(/;|--> statement-breakpoint/)
    .map((statement) => statement.trim());
  return statements.flatMap((statement) => {
    const found = CONTRACTING.find(([pattern]) => pattern.test(statement));
    return found ? [{ statement, what: found[1] }] : [];
  });
}

function withoutComments(sql: string): string {
  return sql.replace(/^--(?!> statement-breakpoint).*$/gm, "").replace(/\/\*[\s\S]*?\*\//g, "");
}
