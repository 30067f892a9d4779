import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { ok } from "#sdk/client/index.ts";
import { useSession, useSite } from "#studio/session/context.tsx";
import { Menu, MenuItem } from "#studio/ui/menu.tsx";

const OTHER = "other";

/** The name of the site, and the way to the others that somebody has signed in to in this browser. */
export default function SiteMenu() {
  const { siteId, client } = useSession();
  const { sites, switchTo, rememberSite } = useSite();
  const site = useQuery({ queryKey: ["site"], queryFn: () => ok(client.api.GET("/site/v1")), staleTime: 60_000 });
  const siteName = site.data?.name;
  useEffect(() => {
    if (siteName !== undefined) rememberSite({ siteId, name: siteName });
  }, [siteId, siteName, rememberSite]);
  const name = siteName ?? sites.find((known) => known.siteId === siteId)?.name ?? "Site";
  const others = sites.filter((known) => known.siteId !== siteId);
  return (
    <Menu label="Site" text={name} onAction={(key) => switchTo(key === OTHER ? null : String(key))}>
      {[
        ...others.map((known) => (
          <MenuItem key={known.siteId} id={known.siteId}>
            {known.name}
          </MenuItem>
        )),
        <MenuItem key={OTHER} id={OTHER}>
          Sign in to another site…
        </MenuItem>,
      ]}
    </Menu>
  );
}
