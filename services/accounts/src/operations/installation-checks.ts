import type { AuthorizationSettings } from "@postrider/platforms/authorizations";
import { createHostChecks } from "@postrider/platforms/host-checks";
import { PLATFORM_IDS, type PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { Cells } from "@postrider/shared/config/cells";
import type { DiagnosticCheck, Finding } from "@postrider/shared/diagnostics/finding";
import type { Dependencies } from "#src/operations/dependencies.ts";

type Result = Omit<Finding, "name">;

function checkCell({ addresses }: Cells, own: string, publicUrl: string): Result {
  const address = addresses.get(own);
  if (address !== undefined && address !== publicUrl)
    return {
      status: "failed",
      found: `CELL_ADDRESSES says that this cell, ${own}, is at ${address}, but PUBLIC_URL is ${publicUrl}: other cells send its clients to a wrong address`,
      remedy: "name the PUBLIC_URL of each cell in CELL_ADDRESSES, the same list in all cells",
    };
  const others = [...addresses.keys()].filter((cell) => cell !== own);
  const known = others.length === 0 ? "no other" : others.join(", ");
  return { status: "ok", found: `this is the cell ${own}; it knows ${known}` };
}

/** None in an installation without cells. */
export function createCellChecks(cells: Cells, publicUrl: string): readonly DiagnosticCheck[] {
  const { own } = cells;
  if (own === undefined) return [];
  const run = () => Promise.resolve(checkCell(cells, own, publicUrl));
  return [{ name: "cell", remedy: "", guide: "scale.md", run }];
}

interface CheckOptions extends Pick<Dependencies, "connectors" | "publicUrl"> {
  readonly platforms: AuthorizationSettings;
}

/** Ends of the names of the settings with the credentials of our app on a platform. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  clientId: "CLIENT_ID",
  clientKey: "CLIENT_KEY",
  clientSecret: "CLIENT_SECRET",
  botToken: "BOT_TOKEN",
};

function listCredentials(platforms: AuthorizationSettings, platform: PlatformId) {
  return Object.entries<unknown>({ ...platforms[platform] }).flatMap(([name, value]) => {
    const end = CREDENTIALS[name];
    return end === undefined ? [] : [{ name: `${platform.toUpperCase()}_${end}`, value }];
  });
}

function checkApp({ connectors, platforms }: CheckOptions, platform: PlatformId): Result {
  const { displayName } = PLATFORM_FACTS[platform].rules;
  const settings = listCredentials(platforms, platform);
  const missing = settings.filter(({ value }) => value === undefined).map(({ name }) => name);
  if (connectors[platform] !== undefined) {
    const needs = settings.length === 0 ? "needs no settings" : "has all settings";
    return { status: "ok", found: `${displayName} ${needs}; accounts can be connected` };
  }
  const names = missing.join(" and ");
  if (missing.length === settings.length)
    return {
      status: "off",
      found: `${displayName} is not set up: ${names} of the accounts service ${missing.length === 1 ? "is" : "are"} not set`,
      remedy: `to use ${displayName}, follow its guide`,
    };
  return {
    status: "failed",
    found: `${names} of the accounts service is not set, so ${displayName} accounts cannot be connected`,
    remedy: `set ${names} and restart the accounts service`,
  };
}

/** Names the exact redirect address that has to be registered for our app on a platform. */
function checkRedirect({ publicUrl }: CheckOptions, platform: PlatformId): Result {
  const address = `${publicUrl}/connect/callback`;
  return {
    status: "ok",
    found: `the redirect address to register with ${PLATFORM_FACTS[platform].rules.displayName} is ${address}`,
  };
}

export function createInstallationChecks(
  { platforms, publicUrl }: Pick<CheckOptions, "platforms" | "publicUrl">,
  connectors: Dependencies["connectors"],
): readonly DiagnosticCheck[] {
  const options = { platforms, publicUrl, connectors };
  const configured = PLATFORM_IDS.filter((platform) => connectors[platform] !== undefined);
  const withRedirect = configured.filter(
    (platform) => connectors[platform]?.connector.codeFlow !== undefined,
  );
  const toCheck = (what: string, platform: PlatformId, result: Result): DiagnosticCheck => ({
    name: `${what} of ${platform}`,
    remedy: "",
    guide: `platforms/${platform}.md`,
    run: () => Promise.resolve(result),
  });
  const hosts = configured.map((platform) => [platform, connectors[platform]?.baseUrl ?? ""]);
  return [
    ...PLATFORM_IDS.map((id) => toCheck("settings", id, checkApp(options, id))),
    ...withRedirect.map((id) => toCheck("redirect address", id, checkRedirect(options, id))),
    ...createHostChecks(Object.fromEntries(hosts) as Partial<Record<PlatformId, string>>),
  ];
}
