import { sectionOf } from "../../sidebars/index.ts";
import type { SidebarItem } from "../../sidebars/sidebar.ts";
import { areas, type Operation } from "./document.ts";

/** The sidebar of an operation's page: its area's operations alone, since all of them would weigh more than the page. */
export function areaSidebar({ area }: Operation): SidebarItem[] {
  const items = areas.find(({ name }) => name === area)?.operations ?? [];
  return [
    {
      // By its section's label a page's part is found.
      label: sectionOf("/docs/api-reference")?.label ?? "",
      items: [
        { label: "API reference", link: "/docs/api-reference" },
        { label: area, items: items.map(({ operationId, summary }) => ({ label: summary, link: `/docs/api-reference/${operationId}` })) },
        { label: "REST API explorer", link: "/api/rest" },
        { label: "Errors", link: "/errors" },
      ],
    },
  ];
}
