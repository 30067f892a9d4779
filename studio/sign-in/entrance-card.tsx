import type { ReactNode, SyntheticEvent } from "react";
import { Notice } from "#studio/ui/notice.tsx";
import "./sign-in.css";

interface Props {
  title: string;
  description: string;
  problem: string | null;
  onSubmit: (event: SyntheticEvent) => void;
  children: ReactNode;
}

/** The form of a page that somebody opens from a link. */
export function EntranceCard({ title, description, problem, onSubmit, children }: Props) {
  return (
    <main className="sign-in">
      <form className="card sign-in-card" noValidate onSubmit={onSubmit}>
        <title>{`${title} · Tifo Studio`}</title>
        <meta name="referrer" content="no-referrer" />
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>{title}</h1>
        <p className="soft">{description}</p>
        {problem !== null && <Notice tone="danger">{problem}</Notice>}
        {children}
      </form>
    </main>
  );
}
