import { Button } from "#studio/ui/button.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import type { Draft, Link } from "./draft.ts";

interface Props {
  draft: Draft;
  setDraft: (draft: Draft) => void;
  issues: ReadonlyMap<string, string>;
  isReadOnly: boolean;
}

const MAX_LINKS = 100;

/** Links to other sites, below the entries. */
export function LinksCard({ draft, setDraft, issues, isReadOnly }: Props) {
  const { links } = draft;
  const setLinks = (next: readonly Link[]): void => setDraft({ ...draft, links: next });
  return (
    <section className="card navigation-card" aria-labelledby="navigation-links">
      <div className="navigation-head">
        <h2 id="navigation-links">Links to other sites</h2>
        {!isReadOnly && links.length < MAX_LINKS && (
          <Button size="small" onPress={() => setLinks([...links, { name: "", url: "https://" }])}>
            <Icon name="plus" />
            Add link
          </Button>
        )}
      </div>
      {links.length === 0 && <p className="soft">None.</p>}
      {links.map((link, at) => (
        <div key={at} className="navigation-link" role="group" aria-label={`Link ${String(at + 1)}`}>
          <TextField
            label="Text"
            value={link.name}
            onChange={(name) => setLinks(links.with(at, { ...link, name }))}
            maxLength={200}
            error={issues.get(`externalLinks.${String(at)}.name`)}
            isReadOnly={isReadOnly}
          />
          <TextField
            label="Address"
            type="url"
            value={link.url}
            onChange={(url) => setLinks(links.with(at, { ...link, url }))}
            maxLength={2000}
            error={issues.get(`externalLinks.${String(at)}.url`)}
            isReadOnly={isReadOnly}
          />
          {!isReadOnly && (
            <Button size="small" look="quiet" onPress={() => setLinks(links.toSpliced(at, 1))} aria-label={`Remove link ${String(at + 1)}`}>
              Remove
            </Button>
          )}
        </div>
      ))}
    </section>
  );
}
