/** 20 × 20, drawn with lines of the text's colour. */
const PATHS = {
  overview: "M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z",
  run: "M5 3.5v13l11-6.5z",
  chat: "M3 4h14v9H9l-4 3.5V13H3z",
  channel: "M3 4h14v10H3zM7 17h6M10 14v3",
  panel: "M3 4h14v12H3zM12 4v12",
  page: "M4.500 2.500h7l4 4v11h-11zM11.500 2.500v4h4M7 10.500h6M7 13.500h6",
  video: "M3 5h10v10H3zM13 9l4-2.500v7L13 11",
  calendar: "M3 4.500h14V17H3zM3 8.500h14M7 2.500v4M13 2.500v4",
  tree: "M3 4h5v3H3zM12 9h5v3h-5zM12 14.500h5v3h-5zM5.500 7v9h6.500M5.500 10.500h6.500",
  overlay: "M3 4h14v12H3zM6 12h6M6 9.5h3.5",
  theme:
    "M10 3a7 7 0 1 0 0 14c1.500 0 1.500-1.300 1-2-.8-1.200 0-2.500 1.500-2.500H15a2 2 0 0 0 2-2A7 7 0 0 0 10 3zM6.500 9.500h.01M9 6.500h.01M13 7.500h.01",
  poll: "M4 16v-5M10 16V4M16 16V8",
  quest: "M5 17V3.5M5 4h10l-2.5 3.5L15 11H5",
  rule: "M11 2.5 5 11h4.5L9 17.5 15 9h-4.5z",
  people:
    "M7.5 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 17c0-3.2 2.4-5.3 5.5-5.3S13 13.800 13 17M13 3.500a3 3 0 0 1 0 5.200M15 12.300c1.900.8 3 2.500 3 4.700",
  money: "M3 5h14v10H3zM10 12.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  insight: "M3 15.500 7.500 10l3.500 3L17 5.500M13 5h4v4",
  key: "M12.500 11a4 4 0 1 0-3.800-2.700L3 14v3h3l.5-2H8l.5-2 2-2",
  webhook: "M3 6.500h11l-2.500-3M17 13.500H6l2.500 3",
  list: "M7 5h10M7 10h10M7 15h10M3.500 5h.01M3.500 10h.01M3.500 15h.01",
  request: "M3 6.500h9M9.500 4l2.500 2.500L9.500 9M17 13.500H8M10.500 11 8 13.500l2.500 2.500",
  clock: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.500 2",
  limit: "M3 14a7 7 0 0 1 14 0M10 14l3-4",
  alert: "M10 3 2.500 16.500h15zM10 8.500v3.500M10 14.200h.01",
  chevron: "M6 8l4 4 4-4",
  plus: "M10 4v12M4 10h12",
} as const;

export type IconName = keyof typeof PATHS;

/** Decorates text that says the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d={PATHS[name]} fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
