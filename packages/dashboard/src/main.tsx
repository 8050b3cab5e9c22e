import "./styles/tokens.css";
import "./styles/base.css";
import { createRoot } from "react-dom/client";
import { loadAnewIfRestored } from "./session/load-anew.ts";
import { loadTemporal } from "./time/load-temporal.ts";

const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no element #root");
loadAnewIfRestored(window, () => location.reload());
// Everything else may use Temporal as soon as it is loaded.
await loadTemporal();
const { App } = await import("./app.tsx");
const { changeSettings } = await import("./settings/settings.ts");
// A server that is busy may have refused the script that sets them before the first paint.
changeSettings({});
createRoot(root).render(<App />);
