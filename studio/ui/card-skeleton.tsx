import "./table.css";
import "./card-skeleton.css";

const CARDS = 6;

/** The place of cards that are on their way, so that nothing moves when they come. */
export function CardSkeleton({ label }: { label: string }) {
  return (
    <div role="status">
      <span className="visually-hidden">{label}</span>
      <div className="card-skeleton" aria-hidden="true">
        {Array.from({ length: CARDS }, (_, index) => (
          <span key={index} className="card">
            <i />
            <i />
          </span>
        ))}
      </div>
    </div>
  );
}
