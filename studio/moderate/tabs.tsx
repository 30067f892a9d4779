import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";

interface Props<View extends string> {
  label: string;
  tabs: readonly { id: View; title: string; count?: string | undefined }[];
  selected: View;
  onSelect: (id: View) => void;
  children: ReactNode;
}

const STEPS: Partial<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** Tabs with the panel of the selected one. The arrow keys go from one to the next; Tab goes to the panel. */
export function Tabs<View extends string>({ label, tabs, selected, onSelect, children }: Props<View>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);

  function press(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === selected);
    const next = tabs.at((at + step) % tabs.length);
    if (!next) return;
    onSelect(next.id);
    list.current?.querySelector<HTMLElement>(`#${CSS.escape(id + next.id)}`)?.focus();
  }

  return (
    <div className="moderate-tabs">
      <div ref={list} role="tablist" aria-label={label} className="tab-list" onKeyDown={press}>
        {tabs.map(({ id: tab, title, count }) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={id + tab}
            className="tab"
            aria-selected={tab === selected}
            aria-controls={tab === selected ? `${id}panel` : undefined}
            tabIndex={tab === selected ? 0 : -1}
            onClick={() => onSelect(tab)}
          >
            {title}
            {count !== undefined && <span className="tab-count">{count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}panel`} aria-labelledby={id + selected} tabIndex={-1} className="tab-panel">
        {children}
      </div>
    </div>
  );
}
