/**
 * An object of the wire by the column that holds each of its fields. Given a row, it has the values; given the columns of a table
 * (`getTableColumns`), it is what SQL writes for rows that it changes: so both stay of one shape.
 */
export function pickFields<Row extends object, const Columns extends Record<string, keyof Row>>(
  row: Row,
  columns: Columns,
): { [Field in keyof Columns]: Row[Columns[Field]] };
export function pickFields(row: object, columns: Record<string, PropertyKey>): object {
  return Object.fromEntries(Object.entries(columns).map(([field, column]) => [field, Reflect.get(row, column)]));
}
