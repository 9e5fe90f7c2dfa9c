import { render } from "preact";
import { EmbeddedSource, reportData } from "./api/embedded";
import { HttpSource } from "./api/source";
import { App } from "./App";
import { applyTheme } from "./theme";
import "./style/base.css";
import "./style/shell.css";
import "./style/map.css";
import "./style/pages.css";
import "./style/summary.css";

applyTheme();
const data = reportData();
const root = document.getElementById("app");
if (root) render(<App source={data ? new EmbeddedSource(data) : new HttpSource()} />, root);
