/** A statement of an object, with the rows that the platform bills for it. */
interface Statement {
  query: string;
  cursor: { rowsRead: number; rowsWritten: number };
}

/** The statements that an object runs while `work` runs. */
export async function statementsDuring({ sql }: DurableObjectStorage, work: () => Promise<unknown>): Promise<Statement[]> {
  const execute = sql.exec.bind(sql);
  const statements: Statement[] = [];
  Object.defineProperty(sql, "exec", {
    configurable: true,
    value: (query: string, ...bindings: unknown[]) => {
      const cursor = execute(query, ...bindings);
      statements.push({ query, cursor });
      return cursor;
    },
  });
  try {
    await work();
  } finally {
    Object.defineProperty(sql, "exec", { configurable: true, value: execute });
  }
  return statements;
}

/** Counts the rows that an object's statements write while `work` runs. */
export async function rowsWritten(storage: DurableObjectStorage, work: () => Promise<unknown>): Promise<number> {
  return (await statementsDuring(storage, work)).reduce((sum, { cursor }) => sum + cursor.rowsWritten, 0);
}
