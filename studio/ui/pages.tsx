import { Button } from "./button.tsx";

interface Props {
  total: number;
  /** From 0. */
  page: number;
  size: number;
  shown: number;
  onPage: (page: number) => void;
}

/** Below a table: which of its rows are shown, and the way to the others. */
export function Pages({ total, page, size, shown, onPage }: Props) {
  const first = page * size + 1;
  return (
    <div className="table-footer">
      <span className="soft" role="status">{`${String(first)} to ${String(first + shown - 1)} of ${total.toLocaleString("en-GB")}`}</span>
      <div className="page-header-actions">
        <Button size="small" isDisabled={page === 0} onPress={() => onPage(page - 1)}>
          Previous page
        </Button>
        <Button size="small" isDisabled={first + shown - 1 >= total} onPress={() => onPage(page + 1)}>
          Next page
        </Button>
      </div>
    </div>
  );
}
