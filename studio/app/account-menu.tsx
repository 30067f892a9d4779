import type { Key } from "react-aria-components/Menu";
import { useSession, useSite } from "#studio/session/context.tsx";
import { Menu, MenuItem } from "#studio/ui/menu.tsx";
import { chooseTheme, THEMES } from "#studio/ui/theme.ts";
import { toast } from "#studio/ui/toast.tsx";
import { errorText } from "#studio/ui/states.tsx";

const THEME_NAMES = { system: "Colours of the system", light: "Light colours", dark: "Dark colours" };

export default function AccountMenu() {
  const { account, access } = useSession();
  const { signOut } = useSite();
  const run = (key: Key) => {
    const theme = THEMES.find((name) => name === key);
    if (theme) chooseTheme(theme);
    else signOut(key === "sign-out-everywhere").catch((error: unknown) => toast(errorText(error), "danger"));
  };
  return (
    <Menu label="Account" text={account.name} detail={access.title} onAction={run}>
      {[
        ...THEMES.map((theme) => (
          <MenuItem key={theme} id={theme}>
            {THEME_NAMES[theme]}
          </MenuItem>
        )),
        <MenuItem key="sign-out" id="sign-out">
          Sign out
        </MenuItem>,
        <MenuItem key="sign-out-everywhere" id="sign-out-everywhere">
          Sign out everywhere
        </MenuItem>,
      ]}
    </Menu>
  );
}
