import { render } from "preact";
import "./style/tokens.css";
import "./style/base.css";
import "./style/controls.css";
import "./style/labels.css";
import "./style/shell.css";
import { App } from "./app.tsx";
import { takeLink, takeUp } from "./arrival.ts";
import { applyTheme } from "./parts/theme.ts";
import { followAccount } from "./uploads/uploads.ts";

applyTheme();
followAccount();
addEventListener("hashchange", takeLink);
takeLink();
void takeUp();
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
