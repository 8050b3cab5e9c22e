import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { type DashboardPage, openBrowser, openDashboard } from "../support/observers/dashboard.ts";
import type { SharedSystem } from "../support/system/system.ts";
import { LOOKS, type LookName, pictureName } from "./looks.ts";
import type { Screen } from "./screens.ts";

/** Images that are hidden or below the picture are not loaded before a reader comes near them. */
const SEEN_IMAGES = `Promise.all(
  [...document.images]
    .filter((image) => image.checkVisibility() && image.getBoundingClientRect().top < innerHeight)
    .map((image) => image.decode().catch(() => undefined)),
).then(() => undefined)`;
/** Longer pages of a phone end here. */
const LONGEST = 2300;

/** Nothing that is still loading is in a picture. */
async function rest(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  // The stream of changes stays open, so the network never becomes idle.
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  await page.evaluate(SEEN_IMAGES);
}

/** On a phone the whole page is shown, as if the phone were as long as that. */
async function growToPage(page: Page, width: number): Promise<void> {
  const length = await page.evaluate<number>("document.documentElement.scrollHeight");
  await page.setViewportSize({ width, height: Math.min(length, LONGEST) });
  await page.evaluate(SEEN_IMAGES);
}

export interface PictureSource {
  readonly browser: Browser;
  readonly system: Pick<SharedSystem, "operate">;
  readonly baseUrl: string;
  readonly workspaceId: string;
  readonly emptyWorkspaceId: string;
  /** Where the pictures are written. */
  readonly folder: string;
}

export interface Picture {
  readonly name: string;
  readonly screen: Screen;
  readonly look: LookName;
}

async function openReader(source: PictureSource, picture: Picture): Promise<DashboardPage> {
  const { browser, system, baseUrl, workspaceId, emptyWorkspaceId } = source;
  const { reader } = picture.screen;
  const look = LOOKS[picture.look];
  if (reader === undefined) return await openDashboard(browser, system, workspaceId, look);
  if (reader === "newcomer") return await openDashboard(browser, system, emptyWorkspaceId, look);
  const opened = await openBrowser(browser, look);
  const words = ["dashboard", "link", "--workspace", workspaceId];
  const link = reader === "invited" ? (await system.operate<{ url: string }>(...words)).url : "";
  await opened.page.goto(link === "" ? `${baseUrl}/app/login` : link);
  return opened;
}

async function take(page: Page, source: PictureSource, picture: Picture): Promise<void> {
  const { name, screen, look } = picture;
  const { width, height } = LOOKS[look];
  await page.setViewportSize({ width, height });
  const open = async (path: string) => {
    await page.goto(`${source.baseUrl}/app/${path}`);
    await rest(page);
  };
  await screen.show(page, open);
  if (screen.isAlone !== true) await rest(page);
  if (width < 768 && screen.floats !== true) await growToPage(page, width);
  // What the pointer pressed last is not shown as if it were over it.
  await page.mouse.move(0, 0);
  const shot = await page.screenshot({ animations: "disabled" });
  await sharp(shot)
    .png({ palette: true, quality: 100, effort: 10 })
    .toFile(join(source.folder, pictureName(name, look)));
}

function rankOf({ screen }: Pick<Picture, "screen">): number {
  return screen.isLast === true ? 1 : 0;
}

/** One browser for each look and reader, and one of its own for what spoils the page. */
export async function takePictures(
  source: PictureSource,
  pictures: readonly Picture[],
): Promise<void> {
  const ordered = pictures.toSorted((one, other) => rankOf(one) - rankOf(other));
  const groups = Object.groupBy(ordered, ({ name, screen, look }) =>
    [rankOf({ screen }), look, screen.reader, screen.isAlone && name].join(" "),
  );
  for (const group of Object.values(groups)) {
    const [first] = group ?? [];
    if (group === undefined || first === undefined) continue;
    await using opened = await openReader(source, first);
    for (const picture of group) {
      await take(opened.page, source, picture);
      console.log(`${picture.name}: ${picture.look}`);
    }
  }
}
