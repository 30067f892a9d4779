import { sectionOf } from "../../sidebars/index.ts";
import type { SidebarItem } from "../../sidebars/sidebar.ts";
import { areas, type Operation } from "./document.ts";

/** The sidebar of an operation's page: only the operations of its area, because all of them would be larger than the page. */
export function areaSidebar({ area }: Operation): SidebarItem[] {
  const items = areas.find(({ name }) => name === area)?.operations ?? [];
  return [
    {
      // A page's part of the sidebar is found by the label of its section.
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
