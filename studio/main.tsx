import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { applyTheme } from "./ui/theme.ts";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/badge.css";
import { App } from "./app/app.tsx";

applyTheme();
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no #root");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
