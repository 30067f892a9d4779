import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { labelOf } from "#studio/api/fields.ts";
import { choiceText } from "#studio/api/words.ts";
import { request } from "#studio/api/request.ts";
import { type ApiExcerpt, operationOf, resolve } from "#studio/api/schema.ts";
import { pageOfSearch, type Search, useSearch, useSearchText } from "#studio/app/search.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import type { Sorting } from "#studio/ui/data-table.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Pages } from "#studio/ui/pages.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, ErrorState } from "#studio/ui/states.tsx";
import { TableSkeleton } from "#studio/ui/table-skeleton.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { directionOf, periodOf, spanOf, type TimeSpan } from "./period.ts";
import { PeriodFields } from "./period-fields.tsx";
import { isRecord, pluralOf, type Resource } from "./resource.ts";
import { ResourceTable } from "./resource-table.tsx";

interface Props {
  resource: Resource;
  excerpt: ApiExcerpt;
}

const PAGE = 25;

/** A resource's table with search, filters, order and pages. */
export function ListScreen({ resource, excerpt }: Props) {
  const { access } = useSession();
  const [search, setSearch] = useSearch();
  const [text, setText] = useSearchText("search");
  const filters = Object.fromEntries((resource.filters ?? []).map((name) => [name, search[name] ?? ""]));
  const period = periodOf(search);
  const today = new Date().setHours(0, 0, 0, 0);
  const span = resource.period ? spanOf(period, today) : undefined;
  const chosen = sortingOf(search, sortableOf(resource, excerpt));
  const sorting = chosen ?? (resource.period ? { by: resource.period.sortBy, direction: directionOf(period) } : null);
  const page = pageOfSearch(search);
  const list = useList({ resource, excerpt, search: search["search"] ?? "", filters, span, sorting, page });
  const isNarrowed = search["search"] !== undefined || Object.values(filters).some((value) => value !== "");
  return (
    <>
      <PageHeader title={resource.title}>
        {resource.links?.map(({ path, text }) => (
          <Link key={path} to={path} className="button button-secondary">
            {text}
          </Link>
        ))}
        {resource.canCreate(access) && (
          <Link to={`${resource.path}/new`} className="button button-primary">
            <Icon name="plus" />
            {`New ${resource.singular}`}
          </Link>
        )}
      </PageHeader>
      <div className="toolbar">
        <TextField label="Search" type="search" maxLength={100} value={text} onChange={setText} />
        {resource.period && <PeriodFields period={period} isReversed={span === null} onChange={setSearch} />}
        {filtersOf(resource, excerpt).map(({ name, options }) => (
          <Select
            key={name}
            label={labelOf(name)}
            value={filters[name] ?? ""}
            options={[{ value: "", text: "All" }, ...options]}
            onChange={(value) => setSearch({ [name]: value, page: "" })}
          />
        ))}
      </div>
      {list.isLoading && <TableSkeleton label={`Loading ${pluralOf(resource)}…`} titles={resource.columns} />}
      {list.isError && <ErrorState error={list.error} retry={() => void list.refetch()} />}
      {list.data && !list.isError && list.data.items.length === 0 && (
        <NoItems
          resource={resource}
          isNarrowed={isNarrowed}
          onShowAll={() => {
            setText("");
            setSearch(Object.fromEntries(["search", "page", ...(resource.filters ?? [])].map((name) => [name, ""])));
          }}
        />
      )}
      {list.data && !list.isError && list.data.items.length > 0 && (
        <>
          <ResourceTable
            resource={resource}
            items={list.data.items}
            sortable={sortableOf(resource, excerpt)}
            sorting={sorting}
            onSort={({ by, direction }) => setSearch({ sort: direction === -1 ? `-${by}` : by, page: "" })}
          />
          <Pages
            total={list.data.total}
            page={page}
            size={PAGE}
            shown={list.data.items.length}
            onPage={(next) => setSearch({ page: next === 0 ? "" : String(next + 1) })}
          />
        </>
      )}
    </>
  );
}

/** Why the list is empty, and what to do about it. */
function NoItems({ resource, isNarrowed, onShowAll }: { resource: Resource; isNarrowed: boolean; onShowAll: () => void }) {
  const { access } = useSession();
  const plural = pluralOf(resource);
  if (isNarrowed)
    return (
      <Empty title="Nothing matches." icon={resource.icon} action={<Button onPress={onShowAll}>{`Show all ${plural}`}</Button>}>
        Try other words, or fewer filters.
      </Empty>
    );
  return (
    <Empty
      title={resource.period ? `There are no ${plural} in this period.` : `There are no ${plural} yet.`}
      icon={resource.icon}
      action={
        resource.canCreate(access) && (
          <Link to={`${resource.path}/new`} className="button button-secondary">
            {resource.period ? `Create an ${resource.singular}` : `Create the first ${resource.singular}`}
          </Link>
        )
      }
    >
      {resource.about}
    </Empty>
  );
}

interface ListInput extends Props {
  search: string;
  filters: Record<string, string>;
  /** What the list is limited to, if it has periods; null if no event can be in it. */
  span: TimeSpan | null | undefined;
  sorting: Sorting | null;
  page: number;
}

function useList({ resource, excerpt, search, filters, span, sorting, page }: ListInput) {
  const session = useSession();
  const query = {
    ...filters,
    ...(resource.period && span && { [resource.period.start]: span.start, [resource.period.end]: span.end }),
    limit: PAGE,
    offset: page * PAGE,
    search: search.trim(),
    sortBy: sorting?.by,
    sortDirection: sorting?.direction,
  };
  return useQuery({
    queryKey: [resource.path, "list", query],
    queryFn: async () => {
      const { data } = await request(session, operationOf(excerpt, resource.operations.list), { query });
      return pageOf(data);
    },
    placeholderData: span === null ? undefined : keepPreviousData,
    enabled: span !== null,
  });
}

function pageOf(data: unknown): { items: unknown[]; total: number } {
  const page = isRecord(data) ? data : {};
  const items: unknown[] = Array.isArray(page["results"]) ? page["results"] : [];
  const pagination = isRecord(page["pagination"]) ? page["pagination"] : {};
  const { totalCount } = pagination;
  return { items, total: typeof totalCount === "number" ? totalCount : items.length };
}

function filtersOf(resource: Resource, excerpt: ApiExcerpt): { name: string; options: { value: string; text: string }[] }[] {
  const { parameters } = operationOf(excerpt, resource.operations.list);
  return (resource.filters ?? []).map((name) => {
    const schema = resolve(parameters.find((parameter) => parameter.name === name)?.schema ?? {}, excerpt);
    const values = schema.type === "boolean" ? ["true", "false"] : (schema.enum ?? []).map(String);
    return { name, options: values.map((value) => ({ value, text: TRUTH[value] ?? choiceText(value, name) })) };
  });
}

const TRUTH: Record<string, string> = { true: "Yes", false: "No" };

function sortableOf(resource: Resource, excerpt: ApiExcerpt): string[] {
  const { parameters } = operationOf(excerpt, resource.operations.list);
  return (parameters.find(({ name }) => name === "sortBy")?.schema?.enum ?? []).map(String);
}

/** In the address, a leading "-" means from the highest to the lowest. */
function sortingOf(search: Search, sortable: readonly string[]): Sorting | null {
  const wanted = search["sort"] ?? "";
  const by = wanted.replace(/^-/, "");
  return sortable.includes(by) ? { by, direction: wanted.startsWith("-") ? -1 : 1 } : null;
}
