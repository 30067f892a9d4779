import "./table.css";

const ROWS = 6;

/** The place of a table whose rows are on their way, so that nothing moves when they come. */
export function TableSkeleton({ label, titles }: { label: string; titles: readonly string[] }) {
  return (
    <div className="table-frame" role="status">
      <span className="visually-hidden">{label}</span>
      <div
        className="table-skeleton"
        aria-hidden="true"
        style={{ gridTemplateColumns: `repeat(${String(titles.length)}, minmax(0, 1fr))` }}
      >
        {titles.map((title) => (
          <span key={title} className="table-skeleton-head" />
        ))}
        {Array.from({ length: ROWS * titles.length }, (_, index) => (
          <span key={index}>
            <i style={{ inlineSize: `${String(35 + ((index * 37) % 50))}%` }} />
          </span>
        ))}
      </div>
    </div>
  );
}
