/**
 * Takes the pictures of the dashboard that `docs/dashboard.md` and the README show, and writes them
 * into `docs/pictures/`: `npm run pictures`, or only those of the screens that are named. With
 * `--to FOLDER` every screen is taken in every size, theme and language, or in those of `--looks`,
 * to look at them. It starts a system of its own with simulated platforms, and fills its workspace
 * with posts, files, comments and rules.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { operate } from "@postrider/local/stack/operator";
import { startStack } from "@postrider/local/stack/stack";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { fillWorkspace } from "./pictures/fill-workspace.ts";
import { LOOKS, type LookName } from "./pictures/looks.ts";
import { SCREENS } from "./pictures/screens.ts";
import { type Picture, takePictures } from "./pictures/take-pictures.ts";
import { launchBrowser } from "./support/observers/browser.ts";
import { startReceiver } from "./support/observers/receiver.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { to: { type: "string" }, looks: { type: "string" } },
});
const asked = values.looks?.split(",");
const folder = values.to ?? join(import.meta.dirname, "../docs/pictures");
const pictures: readonly Picture[] = Object.entries(SCREENS)
  .filter(([name]) => positionals.length === 0 || positionals.includes(name))
  .flatMap(([name, screen]) => {
    const looks = values.to === undefined ? (screen.kept ?? []) : Object.keys(LOOKS);
    return looks
      .filter((look) => asked?.includes(look) ?? true)
      .map((look) => ({ name, screen, look: look as LookName }));
  });

await using receiver = await startReceiver();
await using stack = await startStack({
  dataDir: makeTestFolder("pictures"),
  port: 0,
  kafka: false,
  env: {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    OUTBOUND_ALLOW: new URL(receiver.url).host,
    WEBHOOK_RETRY_SECONDS: "0.2,0.2",
    RECONCILE_TIME_SCALE: "0.005",
    VISIBLE_CALL_SECONDS: "3",
  },
});
const system = {
  operate: async <T>(...args: readonly string[]) => (await operate(stack, ...args)) as T,
};
const { baseUrl } = stack.describe();
const workspaceId = await fillWorkspace({ ...stack.describe(), ...system, receiver });
const empty = ["workspace", "create", "--name", "Hangang & Spree Cycles", "--verified"];
const { id: emptyWorkspaceId } = await system.operate<{ id: string }>(...empty);
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
const source = { browser, system, baseUrl, workspaceId, emptyWorkspaceId, folder };
await takePictures(source, pictures);
await browser.close();
