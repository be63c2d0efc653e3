import { mount } from "svelte";
import App from "./shell/App.svelte";
import "./shell/fonts.css";
import "./shell/tokens.css";
import "./shell/app.css";
import { applyTheme } from "./shell/settings.svelte";

applyTheme();
const target = document.getElementById("app");
if (!target) throw new Error("index.html has no element #app");
mount(App, { target });
