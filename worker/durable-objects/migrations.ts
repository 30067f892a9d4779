/** Brings a store's tables from one version to the next: SQL, or code where data needs converting. */
export type Migration = string | ((storage: DurableObjectStorage) => void);

/**
 * Runs the steps that a store of this object hasn't run yet, in order. Each commits together with its version, so a crash loses no step and
 * repeats none. Released steps never change; later ones only add, because a rolled-back release runs on the newer tables.
 */
export function migrate(storage: DurableObjectStorage, store: string, steps: readonly Migration[]): void {
  const key = `schema:${store}`;
  const version = storage.kv.get<number>(key) ?? 0;
  steps.slice(version).forEach((step, index) =>
    storage.transactionSync(() => {
      if (typeof step === "string") storage.sql.exec(step);
      else step(storage);
      storage.kv.put(key, version + index + 1);
    }),
  );
}
