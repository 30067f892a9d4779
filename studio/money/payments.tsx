import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { pageOfSearch, useSearch, useSearchText } from "#studio/app/search.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Pages } from "#studio/ui/pages.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, ErrorState } from "#studio/ui/states.tsx";
import { TableSkeleton } from "#studio/ui/table-skeleton.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { CHARGE_TITLES, ChargeTable, MONEY, STATES } from "./charge-table.tsx";

const PAGE = 50;
const STATUSES = ["complete", "pending", "declined"] as const;

/** Every payment of the site, the latest first. */
export default function Payments() {
  const { client } = useSession();
  const [search, setSearch] = useSearch();
  const [receipt, setReceipt] = useSearchText("receipt");
  const status = STATUSES.find((known) => known === search["status"]);
  const receiptNumber = (search["receipt"] ?? "").trim();
  const page = pageOfSearch(search);
  const query = {
    scope: "site" as const,
    limit: PAGE,
    offset: page * PAGE,
    sortBy: "created" as const,
    sortDirection: -1 as const,
    ...(status && { status }),
    ...(receiptNumber !== "" && { receiptNumber }),
  };
  const charges = useQuery({
    queryKey: [MONEY, "site", query],
    queryFn: () => ok(client.api.GET("/billing/v1/charges", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  const results = charges.data?.results ?? [];
  const isNarrowed = status !== undefined || receiptNumber !== "";
  return (
    <>
      <PageHeader title="Payments" description="Purchases, renewals and donations of everybody on the site." />
      <div className="toolbar">
        <TextField label="Receipt number" value={receipt} onChange={setReceipt} maxLength={100} placeholder="R-2026-…" />
        <Select
          label="State"
          value={status ?? ""}
          onChange={(next) => setSearch({ status: next, page: "" })}
          options={[{ value: "", text: "All" }, ...STATUSES.map((value) => ({ value, text: STATES[value] }))]}
        />
      </div>
      {charges.isPending && <TableSkeleton label="Loading the payments…" titles={CHARGE_TITLES} />}
      {charges.isError && <ErrorState error={charges.error} retry={() => void charges.refetch()} />}
      {charges.isSuccess &&
        results.length === 0 &&
        (isNarrowed ? (
          <Empty
            title="Nothing matches."
            icon="money"
            action={
              <Button
                onPress={() => {
                  setReceipt("");
                  setSearch({ receipt: "", status: "", page: "" });
                }}
              >
                Show all payments
              </Button>
            }
          />
        ) : (
          <Empty title="Nothing has been paid yet." icon="money">
            Purchases, renewals and donations appear here as soon as somebody pays.
          </Empty>
        ))}
      {charges.isSuccess && results.length > 0 && (
        <>
          <ChargeTable charges={results} showsPerson />
          <Pages
            total={charges.data.pagination.totalCount}
            page={page}
            size={PAGE}
            shown={results.length}
            onPage={(next) => setSearch({ page: next === 0 ? "" : String(next + 1) })}
          />
        </>
      )}
    </>
  );
}
