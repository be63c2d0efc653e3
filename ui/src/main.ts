import { mount } from "svelte";
import App from "./shell/App.svelte";
import "./shell/fonts.css";
import "./shell/tokens.css";
import "./shell/styles/base.css";
import "./shell/styles/words.css";
import "./shell/styles/controls.css";
import "./shell/styles/regions.css";
import "./shell/styles/tables.css";
import "./shell/styles/overlays.css";
import { applyTheme } from "./shell/settings.svelte";

applyTheme();
const target = document.getElementById("app");
if (!target) throw new Error("index.html has no element #app");
mount(App, { target });
