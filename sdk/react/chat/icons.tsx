const PATHS = {
  settings: "M4 7h9m5 0h2M4 17h2m5 0h9M15.5 4.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zm-7 10a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zm3 11v5",
  reply: "M10 8V4L3 11l7 7v-4c5 0 8 1.500 11 5-1-6-4-10-11-11z",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  smile: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM8.500 14.500c2 2.500 5 2.500 7 0M9 9.500h.01M15 9.500h.01",
  send: "M4 12 20 4l-6 16-3-7z",
  close: "M6 6l12 12M18 6 6 18",
  down: "M12 5v14M6 13l6 6 6-6",
  check: "M5 13l4 4L19 7",
} as const;

/** A decorative icon: the control that contains it has a label. */
export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth={name === "more" ? 3 : 1.8}
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
