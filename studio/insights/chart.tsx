import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Point } from "./figures.ts";

export interface Series {
  label: string;
  look: "area" | "line" | "bars";
}

interface Props {
  series: readonly Series[];
  points: readonly Point[];
  /** Charts of the same key show the same moment under the pointer. */
  syncKey: string;
}

const HEIGHT = 220;
const COLOURS = ["--chart-1", "--chart-2"] as const;
const BARS = UPlot.paths.bars?.({ size: [0.7, 48], radius: 0.2 });
/** The steps of the vertical axis, without fractions: half a viewer or vote would be no label. */
const STEPS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
const COMPACT = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });

/** Drawn on a canvas, so for eyes only: the same numbers are in the table below it. */
export default function Chart({ series, points, syncKey }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    let plot = draw(element, { series, points, syncKey });
    const redraw = () => {
      plot.destroy();
      plot = draw(element, { series, points, syncKey });
    };
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const themed = new MutationObserver(redraw);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", redraw);
    return () => {
      resized.disconnect();
      themed.disconnect();
      scheme.removeEventListener("change", redraw);
      plot.destroy();
    };
  }, [series, points, syncKey]);
  return <div ref={frame} className="chart-canvas" aria-hidden="true" />;
}

function draw(element: HTMLElement, { series, points, syncKey }: Props): UPlot {
  const [text, line] = [colour(element, "--text-soft"), colour(element, "--line")];
  const grid = { stroke: line, width: 1 };
  const data: UPlot.AlignedData = [
    points.map(({ at }) => at / 1000),
    ...series.map((_, index) => points.map(({ values }) => values[index] ?? 0)),
  ];
  const axis = { stroke: text, grid, ticks: { show: false }, font: "12px system-ui, sans-serif" };
  return new UPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      padding: [12, 24, 0, 0],
      legend: { live: true, markers: { width: 0, fill: (_, index) => colour(element, colourOf(index - 1)) } },
      cursor: { sync: { key: syncKey }, drag: { x: false, y: false }, points: { size: 7 } },
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [
        { ...axis, grid: { show: false }, size: 32, ...timeLabels(points) },
        { ...axis, size: 56, incrs: STEPS, values: (_, ticks) => ticks.map((tick) => COMPACT.format(tick)) },
      ],
      series: [
        { label: "Time", value: (_, at) => timeText(at) },
        ...series.map(({ label, look }, index) => seriesOf(label, look, colour(element, colourOf(index)))),
      ],
    },
    data,
    element,
  );
}

function colourOf(index: number): (typeof COLOURS)[number] {
  return COLOURS[index % COLOURS.length] ?? "--chart-1";
}

function seriesOf(label: string, look: Series["look"], stroke: string): UPlot.Series {
  const value = (_: UPlot, number: number | null) => (number === null ? "–" : number.toLocaleString("en-GB"));
  const common = { label, stroke, value, points: { show: false } };
  if (look === "bars") return { ...common, fill: stroke, width: 0, ...(BARS && { paths: BARS }) };
  return look === "area" ? { ...common, width: 2, fill: faded(stroke) } : { ...common, width: 2, dash: [5, 4] };
}

const DAY_S = 86_400;

/** Times for a day, dates for longer ranges. */
function timeLabels(points: readonly Point[]): Pick<UPlot.Axis, "values"> {
  const seconds = ((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0)) / 1000;
  const format = new Intl.DateTimeFormat("en-GB", seconds <= DAY_S * 1.5 ? { timeStyle: "short" } : { day: "numeric", month: "short" });
  let last = "";
  return {
    values: (_, ticks) =>
      ticks.map((tick) => {
        const label = format.format(tick * 1000);
        if (label === last && tick !== ticks[0]) return "";
        last = label;
        return label;
      }),
  };
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

function timeText(seconds: number | null): string {
  return seconds === null ? "–" : TIME.format(seconds * 1000);
}

/** A colour of the design system as the canvas knows it. */
function colour(element: HTMLElement, name: string): string {
  // A new element each time: a change of colour could be in transition.
  const probe = element.appendChild(document.createElement("span"));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function faded(resolved: string): string {
  return `color-mix(in srgb, ${resolved} 16%, transparent)`;
}
