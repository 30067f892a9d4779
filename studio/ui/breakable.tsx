import { Fragment } from "react";

/** A long name without spaces, which may continue on the next line after each slash, dot or underscore. */
export function Breakable({ text }: { text: string }) {
  return text.split(/(?<=[/._])/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
