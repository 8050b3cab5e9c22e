import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PLATFORM_IDS, type PlatformId } from "../packages/platforms/src/platform-id.ts";
import { PLATFORMS } from "../packages/platforms/src/platforms.ts";
import { PLATFORM_FACTS } from "../packages/platforms/src/registry.ts";
import type { PlatformRules } from "../packages/platforms/src/rules.ts";
import { redirectUriOf } from "../services/accounts/src/domain/connect-links.ts";
import { CONNECT_PAGES } from "../services/gateway/src/http/connect-texts.ts";

const read = (path: string) => readFileSync(new URL(`../docs/${path}`, import.meta.url), "utf8");
const guideOf = (platform: PlatformId) => read(`platforms/${platform}.md`);

/** Returns the code words (in backticks) of a guide that match the pattern. */
const marked = (guide: string, pattern: RegExp) =>
  [...guide.matchAll(/`([^`\n]+)`/g)]
    .map(([, word = ""]) => word)
    .filter((word) => pattern.test(word));

const OAUTH_PLATFORMS = PLATFORM_IDS.filter(
  (platform) => PLATFORMS[platform].authorization.permissions !== undefined,
);

/** Lists the permissions of a platform as guides write them: Google's only after the last slash. */
function listScopes(platform: PlatformId): ReadonlySet<string> {
  const groups = (PLATFORMS[platform].authorization.permissions ?? []).flatMap((each) =>
    Object.values(each),
  );
  return new Set(groups.flat().map((scope) => scope.replace(/^.*\//, "")));
}

const SETTING = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:=[a-z]+)?$/;
const SCOPE =
  /^(?:pages|instagram|business|read)_\w+$|^(?:tweet|users|media|offline|user|video|youtube)\.[a-z.-]+$/;

describe.each(PLATFORM_IDS)("the guide of %s", (platform) => {
  const guide = guideOf(platform);

  test("shows the command that connects an account and is linked from the overview", () => {
    expect(guide).toContain(`postrider account connect ${platform} `);
    expect(read("platforms/README.md")).toContain(`(${platform}.md)`);
  });

  test("names every setting of our app on the platform, and every setting of the platform's accounts", () => {
    const settings = marked(read("configuration.md"), SETTING)
      .filter((name) => name.startsWith(`${platform.toUpperCase()}_`))
      .filter((name) => !name.endsWith("_BASE_URL"));
    const missing = [
      ...new Set(settings),
      ...Object.keys(PLATFORM_FACTS[platform].settings),
    ].filter((name) => !guide.includes(`\`${name}`));
    expect(missing).toEqual([]);
  });

  test("names the limits that the code enforces", () => {
    const missing = listLimits(PLATFORM_FACTS[platform].rules).filter(
      (limit) => !new RegExp(`\\b${limit}`).test(guide),
    );
    expect(missing).toEqual([]);
  });

  test("names only error codes that exist", () => {
    const known = [...CONNECT_PAGES, ...marked(read("api/errors.md"), /^[a-z_]+$/)];
    const rows = guide.slice(guide.indexOf("## When something fails"));
    const cells = [...rows.matchAll(/^\| `([a-z_]+)`/gm)].map(([, code = ""]) => code);
    const ours = cells.filter((code) => code !== "redirect_uri_mismatch");
    expect(ours.filter((code) => !known.includes(code))).toEqual([]);
  });

  test("quotes messages of Postrider exactly as they are in the code", () => {
    const quoted = [...guide.matchAll(/^\| "([^"]+)"/gm)].map(([, message = ""]) => message);
    const ours = quoted.filter((message) => OUR_MESSAGE.test(message));
    expect(ours.filter((message) => !SOURCES.includes(message))).toEqual([]);
  });
});

/**
 * How texts in guides begin that are quotes of Postrider's own messages. Guides also quote texts of
 * the platforms' pages.
 */
const OUR_MESSAGE = /^(?:Bluesky|Telegram|the bot|the platform|Nothing was connected)/;
const SOURCES = globSync(
  ["packages/{platforms,cli}/src/**/*.ts", "services/gateway/src/http/connect-texts.ts"],
  { cwd: new URL("..", import.meta.url), exclude: (path) => path.endsWith(".test.ts") },
)
  .map((path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8"))
  .join("\n");

/** Returns the limits of a platform in the form in which guides state them. */
function listLimits({ text, media, image, video, dailyLimit }: PlatformRules): readonly string[] {
  const written = (count: number | null | undefined) =>
    typeof count === "number" ? [count.toLocaleString("en")] : [];
  const { maxSeconds } = video;
  const isLong = maxSeconds !== undefined && maxSeconds >= 300 && maxSeconds < 3600;
  return [
    ...written(text.max),
    ...written(text.maxWithMedia),
    ...(media.max > 1 ? written(media.max) : []),
    ...(image.role === "thumbnail" ? [] : [`${image.maxBytes / 1e6} MB`]),
    ...(isLong ? [`${maxSeconds / 60} min`] : []),
    ...written(dailyLimit.count),
  ];
}

test.each(["README", ...PLATFORM_IDS])(
  "the platform guide %s names only settings that exist",
  (guide) => {
    const known = marked(read("configuration.md"), SETTING);
    const named = marked(read(`platforms/${guide}.md`), SETTING);
    const unknown = named.filter((name) => !known.includes(name.replace(/=.*/, "")));
    expect(unknown).toEqual([]);
  },
);

test.each(OAUTH_PLATFORMS)(
  "the guide of %s names exactly the permissions for which the code asks",
  (platform) => {
    expect(new Set(marked(guideOf(platform), SCOPE))).toEqual(listScopes(platform));
  },
);

test.each(OAUTH_PLATFORMS)(
  "the guide of %s names the redirect address that the code uses, and connects an account with a link",
  (platform) => {
    expect(guideOf(platform)).toContain(`\`${redirectUriOf("https://post.example.com")}\``);
    expect(guideOf(platform)).toContain(
      `\npostrider account connect ${platform} --workspace WORKSPACE_ID\n`,
    );
  },
);

test("the page on account settings names every setting of every platform", () => {
  const page = read("account-settings.md");
  const names = PLATFORM_IDS.flatMap((platform) => Object.keys(PLATFORM_FACTS[platform].settings));
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
