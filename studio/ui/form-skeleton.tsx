import "./table.css";
import "./form-skeleton.css";

const FIELDS = [30, 22, 36, 26, 32];

/** The place of a screen with a form that is on its way, so that little moves when it comes. */
export function FormSkeleton({ label }: { label: string }) {
  return (
    <div className="form-skeleton" role="status">
      <span className="visually-hidden">{label}</span>
      <div className="form-skeleton-head" aria-hidden="true">
        <i />
        <i />
      </div>
      <div className="form-skeleton-fields" aria-hidden="true">
        {FIELDS.map((width) => (
          <span key={width}>
            <i style={{ inlineSize: `${String(width)}%` }} />
            <b />
          </span>
        ))}
      </div>
    </div>
  );
}
