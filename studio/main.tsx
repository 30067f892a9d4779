import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { keepFocus } from "./ui/focus-keeper.ts";
import { applyTheme } from "./ui/theme.ts";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/badge.css";
import { App } from "./app/app.tsx";

applyTheme();
keepFocus();
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no #root");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
